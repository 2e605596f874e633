// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The state in which every program of Latchkey begins, whatever the program that started it left.
package enum ProgramStart {
    /// Takes the places of closed standard streams; makes a write to a pipe without a reader, and to a file beyond the
    /// limit of its size, an error instead of a signal. The first call of each program.
    ///
    /// An argument that is not UTF-8 ends the program with status 64 and an error that shows its bytes: repaired, it would
    /// be the name of something else.
    ///
    /// - Returns: the arguments after the name of the program.
    @discardableResult
    package static func begin() -> [String] {
        StandardStream.fillClosedOnes()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        var arguments: [String] = []
        for number in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[number] else { break }
            let bytes = UnsafeBufferPointer(start: argument, count: strlen(argument)).map { UInt8(bitPattern: $0) }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                let text = "error: argument \(number) is not valid UTF-8: \(escaped(bytes))\nhint: Names are UTF-8.\n"
                try? StandardStream.error.write(all: Array(text.utf8))
                exit(64)
            }
            arguments.append(text)
        }
        return arguments
    }

    /// Raises the limits that a shell can set as far as the hard limits permit (setrlimit(2)). Beyond that of the size of
    /// files a write fails with EFBIG.
    package static func raiseLimits() {
        // RLIMIT_CPU, _FSIZE, _DATA, _NOFILE and _AS, <sys/resource.h>
        for kind in [0, 1, 2, 7, 9] as [UInt32] {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(kind), &limit) == 0 else { continue }
            limit.rlim_cur = limit.rlim_max
            _ = setrlimit(__rlimit_resource_t(kind), &limit)
        }
    }

    /// Printable ASCII as it is, and the other bytes as `\xE9`.
    static func escaped(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let shown = bytes.flatMap { byte -> [UInt8] in
            if (0x20...0x7e).contains(byte), byte != UInt8(ascii: "\\") { return [byte] }
            return [UInt8(ascii: "\\"), UInt8(ascii: "x"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
