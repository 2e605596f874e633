// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The reason why nothing was measured: an operation returned a wrong result, or the machine lacks a requirement.
struct BenchFailure: Error {
    let message: String
    let hint: String

    init(_ message: String, hint: String = "") {
        self.message = message
        self.hint = hint
    }

    /// The failure of a C library call that has just set `errno`.
    static func system(_ call: String) -> BenchFailure {
        BenchFailure("\(call): \(String(cString: strerror(errno)))")
    }
}

/// The output stream of a line.
enum Stream {
    case standardOutput, standardError
}

/// Writes a line without buffering, so that a crash loses nothing.
func print(_ line: String, to stream: Stream) {
    let file = stream == .standardOutput ? FileHandle.standardOutput : .standardError
    file.write(Data((line + "\n").utf8))
}
