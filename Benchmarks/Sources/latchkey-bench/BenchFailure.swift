// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why nothing was measured: an operation gave a wrong answer, or the machine lacks something.
struct BenchFailure: Error {
    let message: String
    let hint: String

    init(_ message: String, hint: String = "") {
        self.message = message
        self.hint = hint
    }

    /// A call of the C library that failed just now.
    static func system(_ call: String) -> BenchFailure {
        BenchFailure("\(call): \(String(cString: strerror(errno)))")
    }
}

/// Where lines go.
enum Stream {
    case standardOutput, standardError
}

/// Writes a line at once, so that a crash loses nothing.
func print(_ line: String, to stream: Stream) {
    let file = stream == .standardOutput ? FileHandle.standardOutput : .standardError
    file.write(Data((line + "\n").utf8))
}
