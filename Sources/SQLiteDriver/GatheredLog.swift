// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
import Glibc

/// A file system for SQLite that lies over the default one and gathers what is written to the log, until it is synced or
/// looked at (sqlite.org/vfs.html, "VFS shims").
///
/// SQLite writes a frame of the log by two calls, and an add has a dozen frames: one call for all of them takes 30 µs less of
/// some 310. Nothing reads a frame before the sync that makes it durable, since only then SQLite tells of it, and with
/// `synchronous = FULL` every commit syncs; so what was gathered is never more than one transaction that is not
/// committed. Databases and the shared index are the default file system's own.
enum GatheredLog {
    /// What connections that write are opened with; nil when it cannot be had, and the default one does.
    static let name: String? = isRegistered ? "latchkey-log" : nil

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    /// What stands in front of the default file system's own bytes of an open log.
    private struct Head {
        var file: sqlite3_file
        var pending: UnsafeMutableRawPointer
    }
    private static let headBytes = MemoryLayout<Head>.stride
    /// Room for those bytes: the default file system may become another one while the process runs.
    private static let innerBytes: CInt = 1024

    /// What was written and is not in the file yet: one stretch of it.
    private final class Pending {
        /// SQLite's own file system takes at most 128 KiB less one byte at once.
        static let limit = 1 << 16
        /// Otherwise each write goes on at once.
        let gathers: Bool
        var bytes: [UInt8] = []
        var start: Int64 = 0
        var end: Int64 { start + Int64(bytes.count) }

        init(gathers: Bool) { self.gathers = gathers }
    }

    /// SQLite keeps the pointer for good.
    private static let isRegistered: Bool = {
        guard let base = sqlite3_vfs_find(nil) else { return false }
        let shim = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        shim.initialize(to: base.pointee)
        shim.pointee.zName = UnsafePointer(strdup("latchkey-log"))
        shim.pointee.szOsFile = CInt(headBytes) + innerBytes
        shim.pointee.xOpen = { _, name, file, flags, outFlags in
            guard let base = sqlite3_vfs_find(nil), base.pointee.szOsFile <= GatheredLog.innerBytes, let file,
                let open = base.pointee.xOpen
            else { return SQLITE_CANTOPEN }
            guard flags & SQLITE_OPEN_WAL != 0 else { return open(base, name, file, flags, outFlags) }
            file.pointee.pMethods = nil
            let inner = GatheredLog.inner(file)
            let code = open(base, name, inner, flags, outFlags)
            guard let base = inner.pointee.pMethods else { return code }
            // Where an interrupted write may harm its neighbours SQLite fills up a sector, behind the sync of the commit too.
            let kept = base.pointee.xDeviceCharacteristics?(inner) ?? 0
            let pending = Pending(gathers: kept & SQLITE_IOCAP_POWERSAFE_OVERWRITE != 0)
            GatheredLog.head(file).pointee.pending = Unmanaged.passRetained(pending).toOpaque()
            file.pointee.pMethods = GatheredLog.methods.pointer
            return code
        }
        return sqlite3_vfs_register(shim, 0) == SQLITE_OK
    }()

    private static func head(_ file: File) -> UnsafeMutablePointer<Head> {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self)
    }

    private static func inner(_ file: File) -> File {
        (UnsafeMutableRawPointer(file) + headBytes).assumingMemoryBound(to: sqlite3_file.self)
    }

    /// The default file system's log and its methods.
    private static func base(_ file: File?) -> (file: File, methods: UnsafePointer<sqlite3_io_methods>)? {
        guard let file else { return nil }
        let inner = inner(file)
        return inner.pointee.pMethods.map { (inner, $0) }
    }

    private static func pending(_ file: File) -> Pending {
        Unmanaged<Pending>.fromOpaque(head(file).pointee.pending).takeUnretainedValue()
    }

    private static func write(_ file: File, _ bytes: UnsafeRawPointer, _ count: CInt, _ offset: Int64) -> CInt {
        let pending = pending(file)
        if !pending.bytes.isEmpty, offset != pending.end || pending.bytes.count + Int(count) > Pending.limit {
            let code = flush(file)
            guard code == SQLITE_OK else { return code }
        }
        if pending.bytes.isEmpty { pending.start = offset }
        pending.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        return pending.gathers ? SQLITE_OK : flush(file)
    }

    /// Drops what a transaction has left that was taken back: its place in the log is another program's to write now.
    static func forget(_ database: OpaquePointer?) {
        var log: File?
        let code = sqlite3_file_control(database, nil, SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard code == SQLITE_OK, let log, log.pointee.pMethods == methods.pointer else { return }
        pending(log).bytes.removeAll(keepingCapacity: true)
    }

    /// Writes what is pending. After a failure it is gone: SQLite takes the transaction back, and writes its place anew.
    private static func flush(_ file: File?) -> CInt {
        guard let file, let base = base(file), let write = base.methods.pointee.xWrite else { return SQLITE_IOERR }
        let pending = pending(file)
        guard !pending.bytes.isEmpty else { return SQLITE_OK }
        defer { pending.bytes.removeAll(keepingCapacity: true) }
        return pending.bytes.withUnsafeBytes { write(base.file, $0.baseAddress, CInt($0.count), pending.start) }
    }

    /// Does something with the default file system's log once that has everything.
    private static func flushed(_ file: File?, _ body: (File, sqlite3_io_methods) -> CInt?) -> CInt {
        let code = flush(file)
        guard code == SQLITE_OK, let base = base(file) else { return code }
        return body(base.file, base.methods.pointee) ?? SQLITE_IOERR
    }

    private struct Methods: @unchecked Sendable {
        // Never changed once it is made.
        let pointer: UnsafePointer<sqlite3_io_methods>
    }

    private static let methods: Methods = {
        var methods = sqlite3_io_methods()
        methods.iVersion = 1
        methods.xWrite = { file, bytes, count, offset in
            guard let file, let bytes, count >= 0 else { return SQLITE_IOERR }
            return GatheredLog.write(file, bytes, count, offset)
        }
        methods.xSync = { file, flags in GatheredLog.flushed(file) { $1.xSync?($0, flags) } }
        methods.xTruncate = { file, size in GatheredLog.flushed(file) { $1.xTruncate?($0, size) } }
        methods.xRead = { file, bytes, count, offset in
            GatheredLog.flushed(file) { $1.xRead?($0, bytes, count, offset) }
        }
        methods.xFileSize = { file, size in GatheredLog.flushed(file) { $1.xFileSize?($0, size) } }
        methods.xFileControl = { file, operation, argument in
            GatheredLog.flushed(file) { $1.xFileControl?($0, operation, argument) ?? SQLITE_NOTFOUND }
        }
        methods.xLock = { file, level in GatheredLog.flushed(file) { $1.xLock?($0, level) } }
        methods.xUnlock = { file, level in GatheredLog.flushed(file) { $1.xUnlock?($0, level) } }
        methods.xCheckReservedLock = { file, result in
            GatheredLog.flushed(file) { $1.xCheckReservedLock?($0, result) }
        }
        methods.xSectorSize = { file in
            GatheredLog.base(file).flatMap { $0.methods.pointee.xSectorSize?($0.file) } ?? 4096
        }
        methods.xDeviceCharacteristics = { file in
            GatheredLog.base(file).flatMap { $0.methods.pointee.xDeviceCharacteristics?($0.file) } ?? 0
        }
        methods.xClose = { file in
            guard let file, let base = GatheredLog.base(file) else { return SQLITE_IOERR }
            let code = GatheredLog.flush(file)
            Unmanaged<Pending>.fromOpaque(GatheredLog.head(file).pointee.pending).release()
            let closed = base.methods.pointee.xClose?(base.file) ?? SQLITE_IOERR
            return code == SQLITE_OK ? closed : code
        }
        let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        pointer.initialize(to: methods)
        return Methods(pointer: UnsafePointer(pointer))
    }()
}
