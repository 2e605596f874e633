// SPDX-License-Identifier: Apache-2.0

/// The text of a prompt for a signature. It follows "asks for your finger, to", so it begins with a verb.
///
/// Names come from programs and from the network. Each is shortened and loses every character that could be taken for
/// a part of the sentence, and the host is named first, so that no long name hides it.
package struct SigningReason: Sendable {
    private static let hostCharacters = 52
    private static let userCharacters = 24
    private static let pathCharacters = 36
    private static let keyCharacters = 24

    /// The program that asks: the path of its executable, empty if it cannot be determined, and its process id.
    package var program: String
    package var processID: Int32
    /// The name of the key.
    package var key: String
    /// The name of a host; nil if none is known.
    package var name: @Sendable (HostKey) -> String?

    /// Creates a value from its fields.
    package init(program: String, processID: Int32, key: String, name: @escaping @Sendable (HostKey) -> String?) {
        self.program = program
        self.processID = processID
        self.key = key
        self.name = name
    }

    /// The text for a purpose.
    package func text(_ purpose: SigningPurpose) -> String {
        let what: String
        switch purpose {
        case .login(let user, let host?, _):
            what = "log in to \(shown(host)) as \(Self.clean(user, Self.userCharacters))"
        case .login(let user, nil, let through):
            what =
                "log in as \(Self.clean(user, Self.userCharacters)): host unknown, "
                + (through.isEmpty ? "perhaps forwarded" : "forwarded")
        case .message(let namespace, _): what = "sign data of namespace \(Self.clean(namespace, Self.userCharacters))"
        }
        let path = program.isEmpty ? "an unknown program" : Self.clean(program, Self.pathCharacters, keepsEnd: true)
        return what + route(purpose.forwarders) + ", asked by \(path) (process \(processID)), key "
            + Self.clean(key, Self.keyCharacters, keepsLetters: true)
    }

    private func route(_ through: [HostKey]) -> String {
        guard let first = through.first else { return "" }
        let others = through.count == 1 ? "" : " and \(through.count - 1) more"
        return ", forwarded through \(shown(first))\(others)"
    }

    private func shown(_ host: HostKey) -> String {
        name(host).map { Self.clean($0, Self.hostCharacters) } ?? host.fingerprint
    }

    /// Replaces everything but visible ASCII characters without quotation marks, brackets and separators, and shortens
    /// the text. Letters of other scripts are kept only in the name of the key, which the person chose: in a name of the
    /// network they could look like other letters.
    private static func clean(
        _ text: String, _ limit: Int, keepsEnd: Bool = false, keepsLetters: Bool = false
    ) -> String {
        let scalars = Array(text.unicodeScalars)
        let kept = keepsEnd ? scalars.suffix(2 * limit) : scalars.prefix(2 * limit)
        let shown = kept.map { scalar -> Character in
            let isShown =
                scalar.isASCII
                ? (0x21...0x7e).contains(scalar.value) && !"\"'`(),;".unicodeScalars.contains(scalar)
                : keepsLetters && isLetter(scalar)
            return isShown ? Character(scalar) : "?"
        }
        guard shown.count > limit else { return shown.isEmpty ? "?" : String(shown) }
        return keepsEnd ? "…" + String(shown.suffix(limit - 1)) : String(shown.prefix(limit - 1)) + "…"
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .otherLetter, .modifierLetter: true
        default: false
        }
    }
}
