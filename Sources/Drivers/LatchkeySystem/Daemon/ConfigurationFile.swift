// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// A configuration file: lines `name = value`, and comments that begin with `#`.
package struct ConfigurationFile {
    package let path: String
    package let lines: [ConfigurationLine]

    /// Reads a file; nil if there is none.
    package init?(_ path: String) throws(Failure) {
        let bytes: SecretBytes?
        do throws(SystemError) {
            bytes = try Files.read(path, limit: 64 << 10)
        } catch {
            throw Failure(error, "\(path) cannot be read")
        }
        guard let bytes else { return nil }
        self.path = path
        lines = ConfigurationLine.lines(bytes.copyBytes())
    }

    /// Reads a file of root; nil if there is none. Throws `peerNotTrusted` if others can change it or replace it.
    ///
    /// - Parameter owner: a user that may own it besides root, for tests.
    package init?(ofRoot path: String, orOf owner: UInt32 = 0) throws(Failure) {
        try Self.checkOwner(of: path, orOf: owner)
        try self.init(path)
    }

    /// Throws `peerNotTrusted` if others than root can change a file or replace it.
    static func checkOwner(of path: String, orOf owner: UInt32) throws(Failure) {
        for path in Files.parents(of: path) + [path] {
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            guard status.st_uid == owner || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
                throw Failure(
                    .peerNotTrusted, "\(path) can be changed by others than root.",
                    hint: "Run as root: chown root \(path); chmod go-w \(path)")
            }
        }
    }

    /// The failure for a line that is not understood: a typing error must not silently weaken anything.
    package func refusal(_ line: ConfigurationLine, known: String) -> Failure {
        Failure(
            .invalidParameter, "\(path) has a line that is not understood: \(line.text).", hint: "Known: \(known)")
    }
}
