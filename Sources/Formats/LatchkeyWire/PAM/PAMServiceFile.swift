// SPDX-License-Identifier: Apache-2.0

/// The rules for the service files of Latchkey (pam.d(5)).
package enum PAMServiceFile {
    /// Maximum bytes of the file.
    package static let byteLimit = 64 << 10
    /// What isspace(3) accepts in the locale C.
    private static let blanks: Set<Unicode.Scalar> = [" ", "\t", "\r", "\u{b}", "\u{c}"]

    /// What is wrong with the contents of a service file; nil if nothing is.
    ///
    /// Lines and words are divided where libpam does, which knows bytes only.
    package static func flaw(of text: String) -> String? {
        var types: Set<String> = []
        // A backslash at the end of a line continues it.
        let joined = text.unicodeScalars.replacing("\\\n".unicodeScalars, with: " ".unicodeScalars)
        for line in joined.split(separator: "\n") {
            let rule = line.prefix { $0 != "#" }
            let words = rule.split(whereSeparator: blanks.contains).map { String($0) }
            guard let first = words.first else { continue }
            // pam.d(5): a leading minus only suppresses the log entry of a missing module.
            let type = first.hasPrefix("-") ? String(first.dropFirst()) : first
            guard words.count >= 3, ["auth", "account", "password", "session"].contains(type.lowercased()) else {
                return "it has the line “\(String(line))”, which is not a rule"
            }
            let control = words[1].lowercased()
            guard control != "include", control != "substack" else { return "it includes the file \(words[2])" }
            guard !words.contains(where: { $0.utf8.starts(with: "nullok".utf8) }) else {
                return "it accepts empty passwords (nullok)"
            }
            types.insert(type.lowercased())
        }
        for type in ["auth", "account"] where !types.contains(type) {
            return "it has no line of the type \(type), for which PAM would use the service other"
        }
        return nil
    }
}

/// A service of PAM that Latchkey uses; each has a file of its own (pam.d(5)).
package enum PAMService: UInt8, CaseIterable, Sendable {
    case password = 1
    /// Recognises the face of an account's user, without asking anything.
    case face = 2

    /// The name, by which libpam finds the file.
    package var name: String {
        switch self {
        case .password: "latchkey"
        case .face: "latchkey-face"
        }
    }

    /// The file of an installed system.
    package var path: String { "/etc/pam.d/" + name }
}
