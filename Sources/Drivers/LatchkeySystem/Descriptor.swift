// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
package import LatchkeyModel

/// An open file descriptor, closed with its last reference. Every descriptor of Latchkey has close-on-exec set.
package final class Descriptor: Sendable {
    package let number: CInt

    /// Takes ownership of `number`. One of a standard stream, which is free only in a program that was started without
    /// that stream, is replaced by a higher one: what such a program writes there must not get into a file or a socket
    /// of Latchkey. Without a free higher one every use of the descriptor fails with EBADF.
    package init(owning number: CInt) { self.number = Self.aboveStandard(number) }

    /// The number itself, or a higher one in its place.
    static func aboveStandard(_ number: CInt) -> CInt {
        guard let stream = StandardStream(rawValue: number) else { return number }
        let higher = fcntl(stream.rawValue, F_DUPFD_CLOEXEC, StandardStream.error.rawValue + 1)
        close(stream.rawValue)
        return higher
    }

    /// Takes ownership of a standard stream.
    package init(standard stream: StandardStream) { number = stream.rawValue }

    deinit { close(number) }

    /// Opens a file with `O_CLOEXEC` added to `flags`.
    package static func open(_ path: String, _ flags: CInt, mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
        try open(FilePath(path), flags, mode: mode)
    }

    package static func open(_ path: FilePath, _ flags: CInt, mode: UInt32 = 0o600) throws(SystemError) -> Descriptor {
        let number = path.call { latchkey_open($0, flags | O_CLOEXEC, mode) }
        guard number >= 0 else { throw SystemError("open") }
        return Descriptor(owning: number)
    }

    /// A file without a name that holds these bytes, which nothing can change any more (memfd_create(2)).
    ///
    /// - Parameter name: what `/proc/PID/fd` shows of it.
    package static func memory(_ bytes: SecretBytes, name: String) throws(SystemError) -> Descriptor {
        // MFD_CLOEXEC and MFD_ALLOW_SEALING
        let number = latchkey_memory_file(name, 3)
        guard number >= 0 else { throw SystemError("memfd_create") }
        let file = Descriptor(owning: number)
        guard fchmod(file.number, 0o400) == 0 else { throw SystemError("fchmod") }
        try bytes.withBytes { (bytes) throws(SystemError) in try file.write(all: bytes) }
        guard lseek(file.number, 0, SEEK_SET) == 0 else { throw SystemError("lseek") }
        guard latchkey_seal(file.number) == 0 else { throw SystemError("fcntl") }
        return file
    }

    /// Lets a program that replaces this one have the descriptor, under the same number.
    package func passOn() throws(SystemError) {
        guard fcntl(number, F_SETFD, 0) == 0 else { throw SystemError("fcntl") }
    }

    /// Raises the number of descriptors that this process may have, as far as its hard limit permits (setrlimit(2)).
    ///
    /// - Returns: the number that it may have now.
    package static func raiseLimit(to count: Int) -> Int {
        let kind = __rlimit_resource_t(7)
        var limit = rlimit()
        // Without the present limit the smallest one that a system has is assumed.
        guard getrlimit(kind, &limit) == 0 else { return 256 }
        var raised = limit
        raised.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(count)))
        return Int(clamping: setrlimit(kind, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur)
    }

    /// Reads at most `memory.count` bytes, retrying after EINTR; blocks like read(2).
    ///
    /// - Returns: the number of bytes read; 0 at the end of the file.
    package func read(into memory: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        while true {
            let count = Glibc.read(number, memory.baseAddress, memory.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemError("read") }
        }
    }

    /// Reads at most `count` bytes; empty at the end of the file.
    ///
    /// The array is not overwritten when it is released: read secrets into memory of the caller.
    package func read(atMost count: Int) throws(SystemError) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { (memory, end) throws(SystemError) in
            end = try read(into: UnsafeMutableRawBufferPointer(memory))
        }
    }

    /// Writes all bytes, like `write(all:)` for memory. Not for secrets, which belong in `SecretBytes`.
    package func write(all bytes: [UInt8]) throws(SystemError) {
        // `withUnsafeBytes` has no typed error.
        try bytes.withUnsafeBufferPointer { (bytes) throws(SystemError) in
            try write(all: UnsafeRawBufferPointer(bytes))
        }
    }

    /// Writes all bytes, retrying after short writes and EINTR.
    package func write(all memory: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = memory
        while !rest.isEmpty {
            let count = Glibc.write(number, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno != EINTR {
                throw SystemError("write")
            }
        }
    }

    package func write(all bytes: [UInt8], at offset: Int64) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { memory in
                let rest = UnsafeRawBufferPointer(rebasing: memory[done...])
                return pwrite(number, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw SystemError("pwrite")
            }
        }
    }

    /// The result of fstat(2).
    package func status() throws(SystemError) -> FileRecord {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemError("fstat") }
        return FileRecord(status)
    }

    /// Waits until written data and metadata are durable (fsync(2)).
    package func synchronize() throws(SystemError) { guard fsync(number) == 0 else { throw SystemError("fsync") } }

    /// Waits until written data is durable (fdatasync(2)); sufficient where the file's size did not change.
    package func synchronizeData() throws(SystemError) {
        guard fdatasync(number) == 0 else { throw SystemError("fdatasync") }
    }

    /// Waits until the descriptor is ready for `events` (poll(2) flags).
    ///
    /// - Parameter deadline: on the clock of `Uptime`, in nanoseconds; nil waits without limit.
    /// - Returns: false when the deadline passed first.
    package func wait(for events: Int32, until deadline: Int64?) throws(SystemError) -> Bool {
        try Descriptor.wait(number, for: events, until: deadline)
    }

    /// The same for a descriptor number, without taking ownership.
    static func wait(_ number: CInt, for events: Int32, until deadline: Int64?) throws(SystemError) -> Bool {
        var entries = [pollfd(fd: number, events: Int16(events), revents: 0)]
        return try poll(&entries, until: deadline)
    }

    /// Waits until one of the descriptors has input or has ended.
    ///
    /// - Returns: for each of them whether it has; for none when the deadline passed first.
    package static func waitForInput(_ all: [Descriptor], until deadline: Int64?) throws(SystemError) -> [Bool] {
        var entries = all.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        _ = try poll(&entries, until: deadline)
        return entries.map { $0.revents != 0 }
    }

    private static func poll(_ entries: inout [pollfd], until deadline: Int64?) throws(SystemError) -> Bool {
        while true {
            let left = deadline.map { max(0, ($0 - Uptime.nanoseconds + 999_999) / 1_000_000) } ?? -1
            let count = Glibc.poll(&entries, nfds_t(entries.count), CInt(clamping: left))
            if count > 0 { return true }
            if count == 0 { return false }
            guard errno == EINTR else { throw SystemError("poll") }
        }
    }
}

/// The monotonic clock that also counts while the machine is suspended.
package enum Uptime {
    /// Nanoseconds since the machine started (`CLOCK_BOOTTIME`).
    package static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The time `seconds` from now, in nanoseconds.
    package static func deadline(seconds: Int64) -> Int64 { nanoseconds + seconds * 1_000_000_000 }
}

/// Microseconds since 1970-01-01 00:00 UTC.
package func wallTimeMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}
