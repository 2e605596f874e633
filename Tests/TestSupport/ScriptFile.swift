// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem

/// A program that a test writes and starts.
package enum ScriptFile {
    /// Writes a program to a new file.
    ///
    /// Another process writes it: a program that this process had open for writing while another test started one of its own
    /// cannot be executed until that one runs (ETXTBSY).
    package static func write(_ text: String, to path: String, mode: UInt32 = 0o700) throws {
        let draft = path + ".draft"
        try Data(text.utf8).write(to: URL(fileURLWithPath: draft))
        guard chmod(draft, mode_t(mode)) == 0,
            Processes.wait(try Processes.spawn("/bin/cp", ["--preserve=mode", draft, path])) == 0
        else { throw CocoaError(.fileWriteUnknown) }
        try FileManager.default.removeItem(atPath: draft)
    }
}
