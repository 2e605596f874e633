// SPDX-License-Identifier: Apache-2.0

package import LatchkeyWords

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
    package var key: String
    package var words: Words
    /// The name of a host; nil if none is known.
    package var name: @Sendable (HostKey) -> String?

    package init(
        program: String, processID: Int32, key: String, words: Words = .plainEnglish,
        name: @escaping @Sendable (HostKey) -> String?
    ) {
        (self.program, self.processID, self.key) = (program, processID, key)
        (self.words, self.name) = (words, name)
    }

    package func text(_ purpose: SigningPurpose) -> String {
        let what =
            switch purpose {
            case .login(let user, let host?, _):
                words("log in to \(shown(host)) as \(Self.clean(user, Self.userCharacters))")
            case .login(let user, nil, let through) where through.isEmpty:
                words("log in as \(Self.clean(user, Self.userCharacters)): host unknown, perhaps forwarded")
            case .login(let user, nil, _):
                words("log in as \(Self.clean(user, Self.userCharacters)): host unknown, forwarded")
            case .message(let namespace, _):
                words("sign data of namespace \(Self.clean(namespace, Self.userCharacters))")
            }
        let purposeAndRoute = what + route(purpose.forwarders)
        let key = Self.clean(key, Self.keyCharacters, retainsLetters: true)
        guard !program.isEmpty else {
            return words("\(purposeAndRoute), asked by an unknown program (process \(processID)), key \(key)")
        }
        let path = Self.clean(program, Self.pathCharacters, retainsEnd: true)
        return words("\(purposeAndRoute), asked by \(path) (process \(processID)), key \(key)")
    }

    private func route(_ through: [HostKey]) -> String {
        guard let first = through.first else { return "" }
        guard through.count > 1 else { return words(", forwarded through \(shown(first))") }
        return words(", forwarded through \(shown(first)) and \(through.count - 1) more")
    }

    private func shown(_ host: HostKey) -> String {
        name(host).map { Self.clean($0, Self.hostCharacters) } ?? host.fingerprint
    }

    /// Replaces everything but visible ASCII characters without quotation marks, brackets and separators, and shortens
    /// the text. Letters of other scripts remain only in the name of the key, which the person chose: in a name of the
    /// network they could look like other letters.
    private static func clean(
        _ text: String, _ limit: Int, retainsEnd: Bool = false, retainsLetters: Bool = false
    ) -> String {
        let scalars = Array(text.unicodeScalars)
        let window = retainsEnd ? scalars.suffix(2 * limit) : scalars.prefix(2 * limit)
        let shown = window.map { scalar -> Character in
            let isShown =
                scalar.isASCII
                ? (0x21...0x7e).contains(scalar.value) && !"\"'`(),;".unicodeScalars.contains(scalar)
                : retainsLetters && isLetter(scalar)
            return isShown ? Character(scalar) : "?"
        }
        guard shown.count > limit else { return shown.isEmpty ? "?" : String(shown) }
        return retainsEnd ? "…" + String(shown.suffix(limit - 1)) : String(shown.prefix(limit - 1)) + "…"
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .otherLetter, .modifierLetter: true
        default: false
        }
    }
}
