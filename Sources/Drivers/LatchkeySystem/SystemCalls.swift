// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// The system calls that read what the kernel knows about a process or a path.
///
/// The identification of programs makes every call through this type, so that a test can let each of them fail with each
/// error: an error that were taken for a property of the program would give it another identity.
package struct SystemCalls: Sendable {
    package static let kernel = SystemCalls(fault: nil)

    private let fault: (@Sendable (_ call: String, _ path: String) -> CInt?)?

    private init(fault: (@Sendable (_ call: String, _ path: String) -> CInt?)?) { self.fault = fault }

    /// Calls of which some fail without being made.
    ///
    /// - Parameter testOnlyFault: returns the error of a call, given the name of its manual page and its path; nil if it is
    ///   made.
    package init(testOnlyFault: @escaping @Sendable (_ call: String, _ path: String) -> CInt?) {
        self.init(fault: testOnlyFault)
    }

    private func begin(_ call: StaticString, _ path: String) throws(SystemError) {
        guard let fault, let code = fault(call.description, path) else { return }
        throw SystemError(call, code: code)
    }

    /// Opens a file, relative to a folder if there is one.
    package func open(_ path: String, below folder: Descriptor? = nil, _ flags: CInt) throws(SystemError) -> Descriptor
    {
        try begin("openat", path)
        if let folder { return try Descriptor.open(path, below: folder, flags) }
        do throws(SystemError) {
            return try Descriptor.open(path, flags)
        } catch {
            // The call that the C library makes for open(3), and that `IdentificationStep` names.
            throw SystemError("openat", code: error.code)
        }
    }

    /// Reads at most `memory.count` bytes.
    package func read(
        _ descriptor: Descriptor, _ path: String, into memory: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        try begin("read", path)
        return try descriptor.read(into: memory)
    }

    /// Reads to the end; throws EFBIG if there are more than `limit` bytes.
    package func readAll(_ descriptor: Descriptor, _ path: String, limit: Int) throws(SystemError) -> [UInt8] {
        try begin("read", path)
        return try descriptor.readAll(limit: limit)
    }

    /// The names in a folder; throws EFBIG if there are more than `limit`.
    package func names(_ folder: Descriptor, _ path: String, limit: Int) throws(SystemError) -> [FilePath] {
        try begin("readdir", path)
        return try folder.names(limit: limit)
    }

    /// The target of a link; nil when it is not valid UTF-8 or too long.
    func linkTarget(_ path: String, below folder: Descriptor) throws(SystemError) -> String? {
        try begin("readlinkat", path)
        var buffer = [UInt8](repeating: 0, count: 4097)
        let count = readlinkat(folder.number, path, &buffer, buffer.count)
        guard count >= 0 else { throw SystemError("readlinkat") }
        return count < buffer.count ? String(validating: buffer[..<count], as: UTF8.self) : nil
    }

    package func status(of descriptor: Descriptor, _ path: String) throws(SystemError) -> FileStatus {
        try begin("statx", path)
        return try FileStatus(of: descriptor)
    }

    /// The result of lstat(2).
    package func status(at path: String) throws(SystemError) -> FileRecord {
        try begin("lstat", path)
        return try FileRecord(at: path)
    }

    /// A pidfd of a process (pidfd_open(2)).
    package func handle(of process: Int32) throws(SystemError) -> Descriptor {
        try begin("pidfd_open", "")
        let number = latchkey_pidfd_open(process)
        guard number >= 0 else { throw SystemError("pidfd_open") }
        return Descriptor(owning: number)
    }

    /// Whether the process of a pidfd has ended: the pidfd is readable then (pidfd_open(2)).
    func hasEnded(_ handle: Descriptor) throws(SystemError) -> Bool {
        try begin("poll", "")
        return try handle.wait(for: POLLIN, until: 0)
    }
}

/// A failed system call: its name and errno.
package struct SystemError: Error, Equatable, Sendable {
    /// The name of the call, as in its manual page.
    package let call: String
    package let code: CInt

    /// Must be called directly after the failed call, because it reads errno.
    package init(_ call: StaticString, code: CInt = errno) {
        self.call = call.description
        self.code = code
    }

    /// The name of the call and the text of strerror(3).
    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
