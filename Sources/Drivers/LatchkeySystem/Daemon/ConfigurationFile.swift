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

/// A line `name = value` of a configuration file; a comment begins with `#`. A line ends with a line feed only.
package struct ConfigurationLine: Equatable, Sendable {
    package let name: String
    /// Empty for a line without a value, and for one that is not UTF-8, both of which no reader understands.
    package let value: String
    /// The line as it was written; escaped if it is not UTF-8.
    package let text: String

    /// The lines of a file that are neither empty nor only a comment, which need not be text.
    package static func lines(_ bytes: [UInt8]) -> [ConfigurationLine] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let parts = line.prefix { $0 != UInt8(ascii: "#") }
                .split(separator: UInt8(ascii: "="), maxSplits: 1)
                .map { $0.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } }
            if parts.allSatisfy(\.isEmpty) { return nil }
            let texts = parts.compactMap { String(validating: $0, as: UTF8.self) }
            guard texts.count == parts.count else {
                return ConfigurationLine(name: "", value: "", text: String(showing: line))
            }
            return ConfigurationLine(
                name: texts[0], value: texts.count > 1 ? texts[1] : "", text: String(showing: line))
        }
    }
}

/// What root allows all daemons of the machine, in `/etc/latchkey/hardware.conf`.
package enum HardwareConfiguration {
    /// The path of the file; without it nothing is allowed.
    package static let path = "/etc/latchkey/hardware.conf"

    /// Whether a TPM or a fingerprint reader may be used that is a program. Throws for a file that others than root can
    /// change, and for a line that is not understood.
    package static func allowsVirtual(_ path: String = path) throws(Failure) -> Bool {
        guard let configuration = try ConfigurationFile(ofRoot: path) else { return false }
        var isAllowed = false
        for line in configuration.lines {
            guard let answer = allowsVirtual(line) else { throw configuration.refusal(line, known: known) }
            isAllowed = answer
        }
        return isAllowed
    }

    /// The name of the line that allows it, and its values.
    package static let name = "allow-virtual-hardware"
    package static let known = "\(name) = yes | no"

    /// What a line of any configuration says about virtual hardware; nil for another line, and for one that is not
    /// understood. The last one of a file counts.
    package static func allowsVirtual(_ line: ConfigurationLine) -> Bool? {
        switch (line.name, line.value) {
        case (name, "yes"): true
        case (name, "no"): false
        default: nil
        }
    }
}
