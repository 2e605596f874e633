// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// An item of the keychain as a list shows it: its names and its access control, without its secret.
public struct StoredItem: Equatable, Identifiable, Sendable {
    /// The kinds of item.
    public enum Kind: CaseIterable, Sendable {
        /// A password of an app (`kSecClassGenericPassword`).
        case password
        /// A password of a server (`kSecClassInternetPassword`).
        case internetPassword
        /// A private key (`kSecClassKey`).
        case privateKey
        /// A public key (`kSecClassKey`).
        case publicKey
        /// A certificate (`kSecClassCertificate`).
        case certificate
        /// A secret that a program stored through the message bus (`org.freedesktop.secrets`).
        case secret
    }

    /// What a program has to prove before it gets the secret.
    public enum Rule: CaseIterable, Sendable {
        /// Nothing: the app gets it whenever the keychain is unlocked.
        case nothing
        /// A finger, a face or the passcode.
        case presence
        /// An enrolled finger or face.
        case biometry
        /// A finger or face that was enrolled when the item was stored.
        case currentBiometry
        /// The passcode.
        case passcode
        /// A password of the app only.
        case appPassword
        /// Another demand, such as a paired device.
        case other
    }

    /// Identifies the item on this machine: its name in the audit log, in hexadecimal.
    public let id: String
    /// The access group, which is the name of the app that stored it.
    public let app: String
    /// The kind of item.
    public let kind: Kind
    /// The account, the tag of a key, or the label; may be empty.
    public let name: String
    /// The service or the server; may be empty.
    public let place: String
    /// The app's description of the item; may be empty.
    public let label: String
    /// What the app calls this kind of item, such as "encrypted note" (`kSecAttrDescription`): one short line, without control
    /// characters. Empty if it says nothing, or more. Nothing but the app vouches for it.
    public let appKind: String
    /// What depends on the item, as the app says it (`kSecAttrComment`): as `appKind`, at most a sentence. Empty also where the
    /// daemon lists no comments.
    public let appComment: String
    /// What a program has to prove before it gets the secret.
    public private(set) var rule: Rule
    /// Whether the item never leaves this machine, not even in a backup.
    public let staysHere: Bool
    /// Whether a backup contains the item: it may leave this machine, and another one can check its rule.
    public let isInBackups: Bool
    /// Whether the item is deleted when the passcode is removed.
    public let needsPasscode: Bool
    /// Whether the item is deleted with a forgotten passcode (`KeychainControl.discardForgotten()`).
    public let isDiscardedWithPasscode: Bool
    /// Tells the item from every other that exists at the same time. An item that was deleted and stored again has the same one.
    public let key: Key
    /// When it was stored, in microseconds since 1970-01-01 UTC; nil if the daemon does not say.
    public let storedTime: Int64?
    /// Whether the app says that it encrypted the item: its description of the kind begins with "encrypted". Nothing but the app
    /// vouches for it.
    public var isEncryptedByApp: Bool { appKind.lowercased().hasPrefix("encrypted") }
    /// Whether its app gets a secret, or uses a private key, without a question while the keychain is unlocked. Not for content
    /// that the app says it encrypted: the app needs a key for it, which has a rule of its own.
    public var isOpen: Bool {
        switch kind {
        case .password, .internetPassword, .privateKey, .secret: rule == .nothing && !isEncryptedByApp
        case .publicKey, .certificate: false
        }
    }
    /// Whether `KeychainControl.protect(_:asks:)` changes its rule. That of an item of Apple's API is its app's choice.
    public var canBeProtected: Bool { secretIdentifier != nil }
    /// The identifier of an item of the Secret Service; nil for another item.
    let secretIdentifier: String?
    /// The persistent reference, with which the item is deleted; nil if the daemon sent none.
    let reference: [UInt8]?

    /// The class of an item, and its primary key as far as the list has it.
    public struct Key: Hashable, Sendable {
        private let itemClass: ItemClass
        private let values: Attributes

        init(_ item: FoundItem) {
            itemClass = item.itemClass
            let codes = Set(item.itemClass.primaryKey)
            values = (item.attributes ?? [:]).filter { codes.contains($0.key) }
        }
    }

    /// Maximum characters of `appKind`, and of `appComment`.
    private static let (kindCharacters, commentCharacters) = (40, 120)

    /// A text of the app that can be quoted in a sentence about its item. Empty for a longer one, of which a part could mislead,
    /// and for one with quotation marks, which could seem to end there.
    private static func short(_ text: String, _ characters: Int) -> String {
        let marks: Set<Character> = ["“", "”", "„", "‟", "«", "»", "\""]
        return text.count <= characters && !text.contains(where: marks.contains) ? text.withoutControls : ""
    }

    /// The app's description of the item, or else its name, with its service or server, such as "login (bank.example)"; empty if
    /// it has none of them.
    public let title: String

    /// The item after `KeychainControl.protect(_:asks:)`.
    ///
    /// - Parameter asks: whether a finger, a face or the passcode is proven; otherwise nothing is.
    public func asking(_ asks: Bool) -> StoredItem {
        var changed = self
        changed.rule = asks ? .presence : .nothing
        return changed
    }

    init(_ item: FoundItem, number: Int) {
        // An item without a reference gets a name that no other item of the list has.
        id = item.auditName.map { Hexadecimal.encode($0) } ?? "#\(number)"
        app = item.text(.accessGroup)
        kind =
            switch item.itemClass {
            case .genericPassword: .password
            case .internetPassword: .internetPassword
            case .key: item.attributes?[.keyClass] == .number(KeyHalf.publicKey.rawValue) ? .publicKey : .privateKey
            case .certificate: .certificate
            case .secret: .secret
            }
        name = item.name.asShownLine
        place = item.place.asShownLine
        label = item.text(.label).asShownLine
        title = item.title.asShownLine
        let isPassword = item.itemClass.has(.itemDescription)
        appKind = isPassword ? Self.short(item.text(.itemDescription), Self.kindCharacters) : ""
        appComment = isPassword ? Self.short(item.text(.comment), Self.commentCharacters) : ""
        key = Key(item)
        let control = item.accessControl ?? AccessControl()
        rule = Rule(control.constraints)
        staysHere = control.accessibility.isThisDeviceOnly
        isInBackups = control.skipReason(isInToken: !item.text(.tokenID).isEmpty) == nil
        needsPasscode = item.isLostWithPasscode
        isDiscardedWithPasscode = control.isDiscardedWithPasscode
        if case .date(let time)? = item.attributes?[.creationDate] { storedTime = time } else { storedTime = nil }
        let identifier = item.text(.identifier)
        secretIdentifier = item.itemClass == .secret && !identifier.isEmpty ? identifier : nil
        reference = item.persistentReference
    }
}

extension StoredItem.Rule {
    init(_ constraints: AccessConstraints) {
        let demands = constraints.intersection(.demands)
        switch demands {
        case []: self = .nothing
        case .applicationPassword: self = .appPassword
        default:
            if demands.contains(.userPresence) {
                self = .presence
            } else if demands.contains(.biometryCurrentSet) {
                self = .currentBiometry
            } else if demands.contains(.companion) {
                self = .other
            } else if demands.isSuperset(of: [.biometryAny, .devicePasscode]) {
                self = constraints.contains(.or) ? .presence : .other
            } else {
                self = demands.contains(.biometryAny) ? .biometry : .passcode
            }
        }
    }
}

extension FoundItem {
    /// `Attributes.text(_:)`; empty without attributes.
    package func text(_ code: AttributeCode) -> String { attributes?.text(code) ?? "" }

    /// `Attributes.name(in:)`; empty without attributes.
    package var name: String { attributes?.name(in: itemClass) ?? "" }

    /// `Attributes.place(in:)`; empty without attributes.
    package var place: String { attributes?.place(in: itemClass) ?? "" }

    /// The item's name in the audit log: bytes 2 to 17 of its persistent reference (`PersistentReference` of the
    /// daemon).
    package var auditName: [UInt8]? {
        guard let reference = persistentReference, reference.count == 34 else { return nil }
        return Array(reference[2..<18])
    }
}
