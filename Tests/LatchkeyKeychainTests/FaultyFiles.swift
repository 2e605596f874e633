// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Glibc
import Synchronization

/// A SQLite file system (VFS) layered over the default one, in which writes, syncs and truncations fail according to
/// a plan (sqlite.org/vfs.html, "VFS shims"). Files in folders without a plan are opened by the default one.
enum FaultyFiles {
    private static let plans = Mutex<[String: FaultPlan]>([:])

    /// Applies a plan to the files that are opened below `folder` from now on; nil removes it.
    static func plan(_ plan: FaultPlan?, for folder: String) {
        _ = registered
        // SQLite receives the folder with its links resolved.
        let real = realpath(folder, nil)
        defer { free(real) }
        plans.withLock { $0[real.map { String(cString: $0) } ?? folder] = plan }
    }

    private static func plan(of path: UnsafePointer<CChar>?) -> FaultPlan? {
        guard let path else { return nil }
        let name = String(cString: path)
        return plans.withLock { plans in plans.first { name.hasPrefix($0.key + "/") }?.value }
    }

    // MARK: - The VFS

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The header of an open file, followed by the file structure of the default VFS.
    private struct Head {
        var file: sqlite3_file
        var plan: UnsafeMutableRawPointer
    }
    private static let headBytes = 16

    /// Registered once as the default VFS of this process. SQLite retains its pointer permanently.
    private static let registered: CInt = {
        guard let base = sqlite3_vfs_find(nil) else { return SQLITE_ERROR }
        let shim = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        shim.initialize(to: base.pointee)
        shim.pointee.zName = UnsafePointer(strdup("latchkey-faults"))
        shim.pointee.szOsFile = base.pointee.szOsFile + CInt(headBytes)
        shim.pointee.pAppData = UnsafeMutableRawPointer(base)
        shim.pointee.xOpen = { vfs, name, file, flags, outFlags in
            guard let base = vfs?.pointee.pAppData?.assumingMemoryBound(to: sqlite3_vfs.self), let file,
                let open = base.pointee.xOpen
            else { return SQLITE_ERROR }
            guard let plan = FaultyFiles.plan(of: name) else { return open(base, name, file, flags, outFlags) }
            let inner = FaultyFiles.inner(file)
            let code = open(base, name, inner, flags, outFlags)
            file.pointee.pMethods = nil
            guard inner.pointee.pMethods != nil else { return code }
            FaultyFiles.head(file).pointee.plan = Unmanaged.passRetained(plan).toOpaque()
            file.pointee.pMethods = FaultyFiles.methods.pointer
            return code
        }
        return sqlite3_vfs_register(shim, 1)
    }()

    private static func head(_ file: File) -> UnsafeMutablePointer<Head> {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self)
    }

    private static func inner(_ file: File) -> File {
        (UnsafeMutableRawPointer(file) + headBytes).assumingMemoryBound(to: sqlite3_file.self)
    }

    /// The default VFS's file structure and its methods.
    private static func base(_ file: File?) -> (file: File, methods: sqlite3_io_methods)? {
        guard let file else { return nil }
        let inner = inner(file)
        return inner.pointee.pMethods.map { (inner, $0.pointee) }
    }

    private static func plan(of file: File?) -> FaultPlan? {
        file.map { Unmanaged<FaultPlan>.fromOpaque(head($0).pointee.plan).takeUnretainedValue() }
    }

    private static func fault(_ file: File?) -> FaultPlan.Fault? { plan(of: file)?.next() }

    /// Returns the result code of a call that fails, and sets `errno` as the system would.
    private static func code(_ fault: FaultPlan.Fault, _ inputOutput: CInt, isWrite: Bool) -> CInt {
        guard fault != .inputOutputError else {
            errno = EIO
            return inputOutput
        }
        errno = ENOSPC
        // Like `unixWrite` of SQLite; a sync or truncation has no result code for a full disk.
        return isWrite ? SQLITE_FULL : inputOutput
    }

    private struct Methods: @unchecked Sendable {
        // Not modified after initialisation.
        let pointer: UnsafePointer<sqlite3_io_methods>
    }

    private static let methods: Methods = {
        var methods = sqlite3_io_methods()
        methods.iVersion = 3
        methods.xWrite = { file, bytes, count, offset in
            guard let base = FaultyFiles.base(file), let write = base.methods.xWrite else { return SQLITE_ERROR }
            guard let fault = FaultyFiles.fault(file) else { return write(base.file, bytes, count, offset) }
            if fault == .short { _ = write(base.file, bytes, count / 2, offset) }
            return FaultyFiles.code(fault, SQLITE_IOERR | (3 << 8), isWrite: true)
        }
        methods.xSync = { file, flags in
            guard let base = FaultyFiles.base(file), let sync = base.methods.xSync else { return SQLITE_ERROR }
            guard let fault = FaultyFiles.fault(file) else { return sync(base.file, flags) }
            return FaultyFiles.code(fault, SQLITE_IOERR | (4 << 8), isWrite: false)
        }
        methods.xTruncate = { file, size in
            guard let base = FaultyFiles.base(file), let cut = base.methods.xTruncate else { return SQLITE_ERROR }
            guard let fault = FaultyFiles.fault(file) else { return cut(base.file, size) }
            return FaultyFiles.code(fault, SQLITE_IOERR | (6 << 8), isWrite: false)
        }
        methods.xClose = { file in
            guard let file, let base = FaultyFiles.base(file) else { return SQLITE_ERROR }
            Unmanaged<FaultPlan>.fromOpaque(FaultyFiles.head(file).pointee.plan).release()
            return base.methods.xClose?(base.file) ?? SQLITE_ERROR
        }
        methods.xRead = { file, bytes, count, offset in
            if FaultyFiles.plan(of: file)?.readsFail == true {
                errno = EIO
                return SQLITE_IOERR | (1 << 8)
            }
            return FaultyFiles.base(file).flatMap { $0.methods.xRead?($0.file, bytes, count, offset) } ?? SQLITE_ERROR
        }
        methods.xFileSize = { file, size in
            FaultyFiles.base(file).flatMap { $0.methods.xFileSize?($0.file, size) } ?? SQLITE_ERROR
        }
        methods.xLock = { file, level in
            FaultyFiles.base(file).flatMap { $0.methods.xLock?($0.file, level) } ?? SQLITE_ERROR
        }
        methods.xUnlock = { file, level in
            FaultyFiles.base(file).flatMap { $0.methods.xUnlock?($0.file, level) } ?? SQLITE_ERROR
        }
        methods.xCheckReservedLock = { file, result in
            FaultyFiles.base(file).flatMap { $0.methods.xCheckReservedLock?($0.file, result) } ?? SQLITE_ERROR
        }
        methods.xFileControl = { file, operation, argument in
            FaultyFiles.base(file).flatMap { $0.methods.xFileControl?($0.file, operation, argument) } ?? SQLITE_NOTFOUND
        }
        methods.xSectorSize = { file in FaultyFiles.base(file).flatMap { $0.methods.xSectorSize?($0.file) } ?? 4096 }
        methods.xDeviceCharacteristics = { file in
            let characteristics = FaultyFiles.base(file).flatMap { $0.methods.xDeviceCharacteristics?($0.file) } ?? 0
            return FaultyFiles.plan(of: file)?.isPowersafe == false
                ? characteristics & ~SQLITE_IOCAP_POWERSAFE_OVERWRITE : characteristics
        }
        methods.xShmMap = { file, page, size, extend, memory in
            FaultyFiles.base(file).flatMap { $0.methods.xShmMap?($0.file, page, size, extend, memory) } ?? SQLITE_ERROR
        }
        methods.xShmLock = { file, offset, count, flags in
            FaultyFiles.base(file).flatMap { $0.methods.xShmLock?($0.file, offset, count, flags) } ?? SQLITE_ERROR
        }
        methods.xShmBarrier = { file in FaultyFiles.base(file).map { $0.methods.xShmBarrier?($0.file) } }
        methods.xShmUnmap = { file, delete in
            FaultyFiles.base(file).flatMap { $0.methods.xShmUnmap?($0.file, delete) } ?? SQLITE_ERROR
        }
        methods.xFetch = { file, offset, count, memory in
            FaultyFiles.base(file).flatMap { $0.methods.xFetch?($0.file, offset, count, memory) } ?? SQLITE_ERROR
        }
        methods.xUnfetch = { file, offset, memory in
            FaultyFiles.base(file).flatMap { $0.methods.xUnfetch?($0.file, offset, memory) } ?? SQLITE_ERROR
        }
        let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        pointer.initialize(to: methods)
        return Methods(pointer: UnsafePointer(pointer))
    }()
}
