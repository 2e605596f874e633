// SPDX-License-Identifier: Apache-2.0

/// An app in a sandbox, as the sandbox names it.
///
/// The name is a statement and proves nothing: every program of a user can make a mount namespace with any `/.flatpak-info`, and
/// can be executed under any AppArmor profile that is loaded. It tells apps apart that do not attack each other.
package struct SandboxedApp: Hashable, Sendable {
    /// What made the sandbox. Raw values are part of the wire format and of stored owners.
    package enum Kind: String, CaseIterable, Sendable {
        case flatpak
        case snap
    }

    /// Maximum bytes of a name, of Flatpak as of D-Bus.
    private static let nameBytes = 255

    package let kind: Kind
    /// The identifier of a Flatpak app, such as `org.example.App`, or the name of a snap.
    package let name: String

    /// Creates an app; nil unless the bytes are a name of this kind. Its characters are ASCII, so that no letter of another alphabet
    /// imitates one.
    package init?(_ kind: Kind, _ name: some Collection<UInt8>) {
        guard (1...Self.nameBytes).contains(name.count), Self.isName(kind, name),
            let text = String(validating: name, as: UTF8.self)
        else { return nil }
        (self.kind, self.name) = (kind, text)
    }

    /// Parses `owner`; nil for another text.
    package init?(owner: String) {
        let bytes = Array(owner.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let kind = Kind.allCases.first(where: { bytes[..<colon].elementsEqual($0.rawValue.utf8) })
        else { return nil }
        self.init(kind, bytes[(colon + 1)...])
    }

    /// What stored items and answers belong to, such as `flatpak:org.example.App`. It is no path, so it is the name of no
    /// program outside of a sandbox.
    package var owner: String { "\(kind.rawValue):\(name)" }

    /// The name in prompts and in the audit log, such as `org.example.App (Flatpak)`.
    package var label: String {
        switch kind {
        case .flatpak: "\(name) (Flatpak)"
        case .snap: "\(name) (snap)"
        }
    }

    private static func isName(_ kind: Kind, _ name: some Collection<UInt8>) -> Bool {
        switch kind {
        case .flatpak:
            // `flatpak build-init` accepts the same: at least three parts, of which none begins with a digit.
            let parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            return parts.count >= 3
                && parts.allSatisfy { part in
                    guard let first = part.first, !isDigit(first) else { return false }
                    return part.allSatisfy { isLetter($0) || isDigit($0) || "_-".utf8.contains($0) }
                }
        case .snap:
            // A second copy of a snap has a name of its own, as in `editor_work`.
            return name.allSatisfy { isSmall($0) || isDigit($0) || "_-".utf8.contains($0) }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isSmall(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
        isSmall(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
