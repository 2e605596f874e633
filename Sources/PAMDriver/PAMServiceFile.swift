// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem

/// The service file of Latchkey, `/etc/pam.d/latchkey` (pam.d(5)).
package enum PAMServiceFile {
    package static let path = "/etc/pam.d/latchkey"
    private static let byteLimit = 64 << 10
    private static let hint = "Install the file of the package again."

    /// Throws unless the file decides alone what PAM does, and only its owner can change it.
    ///
    /// An include may bring in modules that accept something else than a password, such as a finger, and libpam takes
    /// the lines of a missing type from the service `other`.
    ///
    /// - Parameter owner: the user to whom the file must belong: root, except in tests.
    package static func check(_ path: String = path, owner: UInt32 = 0) throws(Failure) {
        let text: String
        do throws(SystemError) {
            let file = try Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == owner, status.st_mode & 0o022 == 0 else {
                throw SystemError("open", code: EPERM)
            }
            guard let bytes = try Files.read(path, limit: byteLimit) else { throw SystemError("open", code: ENOENT) }
            text = bytes.withBytes { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw Failure(error, "\(path) cannot be used: it must be a file that only root can change")
        }
        if let flaw = flaw(of: text) { throw Failure(.notPermitted, "\(path) cannot be used: \(flaw).", hint: hint) }
    }

    /// What is wrong with the contents of a service file; nil if nothing is.
    static func flaw(of text: String) -> String? {
        var types: Set<Substring> = []
        // A backslash at the end of a line continues it.
        let joined = text.replacing("\\\n", with: " ")
        for line in joined.split(whereSeparator: \.isNewline) {
            let rule = line.prefix { $0 != "#" }
            let words = rule.split(whereSeparator: \.isWhitespace)
            guard let first = words.first else { continue }
            // pam.d(5): a leading minus only suppresses the log entry of a missing module.
            let type = first.hasPrefix("-") ? first.dropFirst() : first
            guard words.count >= 3, ["auth", "account", "password", "session"].contains(type.lowercased()) else {
                return "it has the line “\(line)”, which is not a rule"
            }
            let control = words[1].lowercased()
            guard control != "include", control != "substack" else { return "it includes the file \(words[2])" }
            guard !words.contains("nullok") else { return "it accepts empty passwords (nullok)" }
            types.insert(Substring(type.lowercased()))
        }
        for type in ["auth", "account"] where !types.contains(Substring(type)) {
            return "it has no line of the type \(type), for which PAM would use the service other"
        }
        return nil
    }
}
