// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
import Glibc

/// A SQLite file system (VFS) layered over the default one: it buffers writes to the write-ahead log until the log is
/// synced or read (sqlite.org/vfs.html, "VFS shims").
///
/// SQLite writes each frame of the log by two calls, and an add has a dozen frames; a single call for all of them saves
/// 20 µs of 356 (medians of five runs of each build in turn; `docs/design/decisions/014-cost-of-an-add.md`).
///
/// This is safe because no other connection reads a frame before the sync that makes it durable. The file format lets a
/// reader use frames only up to the last commit frame (sqlite.org/fileformat2.html, section 4.4), which it finds in the
/// WAL index; SQLite updates the index after that sync (sqlite.org/walformat.html, section 2.2). After a crash, a frame
/// counts only if its checksum and all earlier ones are right (section 4.1), in whatever order the disk wrote them. With
/// `synchronous = FULL` every commit syncs the log, so the buffer never holds more than one uncommitted transaction. Files
/// other than the log use the default file system directly.
enum GatheredLog {
    /// The name of the VFS for connections that write; nil, which means the default one, when it cannot be registered.
    static let name: String? = isRegistered ? "latchkey-log" : nil

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The header of an open log file, followed by the file structure of the default VFS.
    private struct Head {
        var file: sqlite3_file
        var pending: UnsafeMutableRawPointer
    }
    private static let headBytes = MemoryLayout<Head>.stride
    /// Space for that structure. Its size is checked at each open, because the default VFS can be replaced at run time.
    private static let innerBytes: CInt = 1024

    /// The buffered writes: one contiguous range of the log.
    private final class Pending {
        /// The default VFS accepts at most 128 KiB less one byte per write.
        static let limit = 1 << 16
        /// Whether writes are buffered; if not, each is passed on at once.
        let gathers: Bool
        var bytes: [UInt8] = []
        var start: Int64 = 0
        var end: Int64 { start + Int64(bytes.count) }

        init(gathers: Bool) { self.gathers = gathers }
    }

    /// Whether the VFS is registered. SQLite retains its pointer permanently, so it is never freed.
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
            // Without this property SQLite also pads the log to a full sector, after the sync of the commit.
            let characteristics = base.pointee.xDeviceCharacteristics?(inner) ?? 0
            let pending = Pending(gathers: characteristics & SQLITE_IOCAP_POWERSAFE_OVERWRITE != 0)
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

    /// The default VFS's file structure of a log, and its methods.
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

    /// Drops the buffered writes of a transaction that was rolled back: another program may write that range of the
    /// log next.
    static func forget(_ database: OpaquePointer?) {
        var log: File?
        let code = sqlite3_file_control(database, nil, SQLITE_FCNTL_JOURNAL_POINTER, &log)
        guard code == SQLITE_OK, let log, log.pointee.pMethods == methods.pointer else { return }
        pending(log).bytes.removeAll(keepingCapacity: true)
    }

    /// Writes the buffer to the log. A failure drops it too: SQLite rolls the transaction back and writes the range
    /// again.
    private static func flush(_ file: File?) -> CInt {
        guard let file, let base = base(file), let write = base.methods.pointee.xWrite else { return SQLITE_IOERR }
        let pending = pending(file)
        guard !pending.bytes.isEmpty else { return SQLITE_OK }
        defer { pending.bytes.removeAll(keepingCapacity: true) }
        return pending.bytes.withUnsafeBytes { write(base.file, $0.baseAddress, CInt($0.count), pending.start) }
    }

    /// Flushes the buffer, then calls `body` with the default VFS's file.
    private static func flushed(_ file: File?, _ body: (File, sqlite3_io_methods) -> CInt?) -> CInt {
        let code = flush(file)
        guard code == SQLITE_OK, let base = base(file) else { return code }
        return body(base.file, base.methods.pointee) ?? SQLITE_IOERR
    }

    private struct Methods: @unchecked Sendable {
        // Not modified after initialisation.
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
