// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import Testing

/// A folder that only root can change, as are all above it; removed with its last reference.
package final class RootFolder: Sendable {
    /// The path of the folder.
    package let path: String

    /// Creates the folder.
    package init() throws {
        var template = Array("/var/lib/latchkey-test-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        path = String(cString: made)
        chmod(path, 0o755)
    }

    deinit {
        if let child = try? Processes.spawn("/usr/bin/rm", ["-r", "-f", path]) { Processes.wait(child) }
    }

    /// Copies a program into the folder.
    package func copy(of program: String, _ name: String) throws -> String {
        let target = path + "/" + name
        Processes.wait(try Processes.spawn("/usr/bin/install", ["-m", "755", program, target]))
        try #require(Files.exists(target))
        return target
    }

    /// Writes a file of the folder.
    package func write(_ name: String, _ text: String, mode: UInt32 = 0o644) throws {
        let file = try Descriptor.open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC)
        try Array(text.utf8).withUnsafeBytes { try file.write(all: $0) }
        #expect(fchmod(file.number, mode) == 0)
    }
}
