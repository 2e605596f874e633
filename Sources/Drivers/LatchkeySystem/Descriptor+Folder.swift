// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

extension Descriptor {
    /// Opens a file relative to the folder `folder`, with `O_CLOEXEC` added to `flags` (openat(2)).
    package static func open(_ path: String, below folder: Descriptor, _ flags: CInt) throws(SystemError) -> Descriptor
    {
        try open(FilePath(path), below: folder, flags)
    }

    /// The same for a path that need not be text.
    package static func open(
        _ path: FilePath, below folder: Descriptor, _ flags: CInt
    ) throws(SystemError) -> Descriptor {
        let number = path.call { latchkey_open_below(folder.number, $0, flags | O_CLOEXEC) }
        guard number >= 0 else { throw SystemError("openat") }
        return Descriptor(owning: number)
    }

    /// Reads from the current position to the end.
    ///
    /// - Throws: `SystemError` with EFBIG when there are more than `limit` bytes.
    package func readAll(limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit + 1, 16 << 10))
        while true {
            let count = try piece.withUnsafeMutableBufferPointer { (memory) throws(SystemError) in
                try read(into: UnsafeMutableRawBufferPointer(memory))
            }
            if count == 0 { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= limit else { throw SystemError("read", code: EFBIG) }
        }
    }

    /// The names in an open folder, without `.` and `..`, sorted by their bytes; they need not be text.
    ///
    /// - Throws: `SystemError` with EFBIG when there are more than `limit` names.
    package func names(limit: Int) throws(SystemError) -> [FilePath] {
        // A descriptor of its own, with a position of its own: `closedir` closes the one that the stream was made of.
        let number = latchkey_open_below(self.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError("openat") }
        guard let stream = fdopendir(number) else {
            let error = SystemError("fdopendir")
            close(number)
            throw error
        }
        defer { closedir(stream) }
        var names: [FilePath] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw SystemError("readdir") }
                return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            }
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let name = FilePath(bytes: bytes)
            guard name != FilePath("."), name != FilePath("..") else { continue }
            guard names.count < limit else { throw SystemError("readdir", code: EFBIG) }
            names.append(name)
        }
    }
}
