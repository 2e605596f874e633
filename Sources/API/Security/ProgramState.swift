// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem

/// The state and the streams of the apps of this repository, as the programs of Latchkey have them. No part of the API.
@_spi(Apps) public enum ProgramState {
    /// Brings the program into a known state, whatever the one that started it left: closed standard streams get a place on
    /// which every use fails, and no write raises a signal. The first call of a program.
    ///
    /// - Returns: the arguments after the program's name. One that is not UTF-8 ends the program with status 64.
    public static func begin() -> [String] { ProgramStart.begin() }

    /// Writes a text to standard output, and waits until all of it is taken also if the stream is non-blocking.
    ///
    /// - Returns: false if the stream cannot be written.
    public static func write(_ text: String) -> Bool {
        (try? StandardStream.output.write(all: Array(text.utf8))) != nil  // Why it failed has no effect.
    }

    /// Reads a line of standard input, without its end, and waits for it also if the stream is non-blocking.
    ///
    /// - Returns: nil at the end of the input, and for a line that cannot be read, is not UTF-8, or has more than 1 MiB.
    public static func line() -> String? {
        try? StandardStream.input.line(limit: 1 << 20)  // An input that cannot be read has ended.
    }
}
