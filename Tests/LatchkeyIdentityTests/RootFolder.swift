// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import LatchkeySystem
import TestSupport
import Testing

/// A folder that only root can change, as are all above it; removed with its last reference.
final class RootFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/var/lib/latchkey-test-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        path = String(cString: made)
        chmod(path, 0o755)
    }

    deinit {
        if let child = try? Processes.spawn("/usr/bin/rm", ["-r", "-f", path]) { Processes.wait(child) }
    }

    /// Copies a program into the folder.
    func copy(of program: String, _ name: String) throws -> String {
        let target = path + "/" + name
        Processes.wait(try Processes.spawn("/usr/bin/install", ["-m", "755", program, target]))
        try #require(Files.exists(target))
        return target
    }

    func write(_ name: String, _ text: String, mode: mode_t = 0o644) throws {
        let file = try Descriptor.open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC)
        try Array(text.utf8).withUnsafeBytes { try file.write(all: $0) }
        #expect(fchmod(file.number, mode) == 0)
    }
}

extension Need {
    /// The protected folder of the tests is on a mount whose owners count.
    static let protectedFolder = Need("root, and a /var/lib that only root can change, on a mount without nosuid") {
        guard geteuid() == 0, let mounts = try? MountTable(),
            let walk = try? PathWalk("/var/lib", mounts, isAllowed: ProtectedPath.isProtected)
        else { return false }
        return walk.components.allSatisfy(ProtectedPath.isProtected)
    }
}
