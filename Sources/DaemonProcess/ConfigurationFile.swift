// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem

/// A configuration file: lines `name = value`, and comments that begin with `#`.
package struct ConfigurationFile {
    package struct Line {
        package let name: String
        /// Empty for a line without a value, which no reader understands.
        package let value: String
        /// The line as it was written.
        package let text: String
    }
    package let path: String
    package let lines: [Line]

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
        var lines: [Line] = []
        for line in String(decoding: bytes.copyBytes(), as: UTF8.self).split(separator: "\n") {
            let text = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            let parts = text.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
            if parts.allSatisfy(\.isEmpty) { continue }
            lines.append(Line(name: parts[0], value: parts.count > 1 ? parts[1] : "", text: String(line)))
        }
        self.lines = lines
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
    package func refusal(_ line: Line, known: String) -> Failure {
        Failure(
            .invalidParameter, "\(path) has a line that is not understood: \(line.text)", hint: "Known: \(known)")
    }
}
