// SPDX-License-Identifier: Apache-2.0

// The items of programs that use `org.freedesktop.secrets` (docs/use/secret-service.md).

extension Request {
    /// A call of another program to the Secret Service, which `latchkey-secrets` passes on.
    ///
    /// The provider may send it for any program of the user, and each program for itself. It reaches items of class `secret` and no others, and nothing else reaches those.
    package struct UseSecrets: ClientRequest {
        /// The items that the call returns; a search returns items that the program may not read without their labels
        /// and pairs. Empty for a call that returns none.
        package typealias Response = [FoundItem]
        package static var operation: Operation { .useSecrets }
        package var traits: RequestTraits { .asks }
        package static func response(_ reply: Reply) -> [FoundItem]? {
            switch reply {
            case .items(let items, _): items
            case .done: []
            default: nil
            }
        }

        /// The process at the other end of the bus connection. The daemon determines itself which program that is.
        package var process: ProcessName
        /// Whether the message bus has named the process by a descriptor, so that it cannot be another one. Otherwise no
        /// answer of the person is stored for it.
        package var isPinned: Bool
        package var action: SecretAction
        /// Whether a prompt is allowed; the texts are not used.
        package var prompting: Prompting

        package init(process: ProcessName, isPinned: Bool, action: SecretAction, prompting: Prompting = Prompting()) {
            (self.process, self.isPinned, self.action, self.prompting) = (process, isPinned, action, prompting)
        }
    }
}

/// What a program does with the Secret Service.
package enum SecretAction: Equatable, Sendable {
    /// Stores an item, or replaces the own one with the same pairs if `replaces`. Returns the item.
    case store(NewSecret, replaces: Bool)
    /// Items that have all these pairs; without a pair those that the program stored or may always read.
    ///
    /// Items of other programs are among them if a pair besides `xdg:schema` is given, without label and pairs. An item has
    /// its access control if the program may read it and the keychain is not locked.
    case search(collection: String?, SecretPairs)
    /// The items of all programs, without secrets, after a prompt in tiers `file` and `tpm`.
    case everyItem
    /// The secrets of items, by their identifiers, in their order; after one prompt for those that need it. An item that no
    /// longer exists is left out.
    case read([String])
    /// Changes an item of the program; or one of another program, after a prompt.
    case change(String, SecretChanges)
    /// Deletes an item of the program; or one of another program, after a prompt.
    case delete(String)
    /// The collections; each is an item with the attributes `identifier`, `label` and dates.
    case collections
    /// Makes a collection, and returns it.
    case createCollection(label: String)
    case renameCollection(String, label: String)
    /// Deletes a collection whose items all belong to the program, with them.
    case deleteCollection(String)
    /// The answers of the person that count now: each is an item with the attributes `collection` (the identifier of the item),
    /// `identifier`, `owner` (the program), `label` (`SecretAnswer`) and, if the item still exists, `itemDescription` (its
    /// label).
    case answers
    /// Forgets an answer, so that the program is asked for again.
    case forgetAnswer(item: String, answer: String)
    /// Changes the access control of the items that are stored in a collection from now on, which needs what it demanded
    /// before.
    case protectNew(collection: String, AccessControl)
    /// Changes the access control of an item, after a prompt that also asks for what the item demanded before. “Always” and
    /// “until logout” of other programs end.
    case protectItem(String, AccessControl)
    /// Asks the person to unlock the keychain for the program; without a prompt if it is not locked.
    case unlock
}

/// A new item.
package struct NewSecret: Equatable, Sendable {
    /// The identifier of its collection.
    package var collection: String
    package var label: String
    /// The content type, such as `text/plain`.
    package var contentType: String
    package var pairs: SecretPairs
    package var secret: SecretBytes

    package init(collection: String, label: String, contentType: String, pairs: SecretPairs, secret: SecretBytes) {
        self.collection = collection
        self.label = label
        self.contentType = contentType
        self.pairs = pairs
        self.secret = secret
    }
}

/// The parts of an item to change; nil leaves a part as it is.
package struct SecretChanges: Equatable, Sendable {
    package var label: String?
    package var pairs: SecretPairs?
    package var contentType: String?
    package var secret: SecretBytes?

    package init(
        label: String? = nil, pairs: SecretPairs? = nil, contentType: String? = nil, secret: SecretBytes? = nil
    ) {
        (self.label, self.pairs, self.contentType, self.secret) = (label, pairs, contentType, secret)
    }
}

/// The attributes that a program gives an item of the Secret Service: pairs of names and values.
package struct SecretPairs: Hashable, Sendable {
    /// One name with its value.
    package struct Pair: Hashable, Sendable {
        package var name: String
        package var value: String
        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

        package var isSchema: Bool { name.hasBytes(of: SecretPairs.schema) }

        // Text from outside is compared by its bytes.
        package static func == (one: Pair, other: Pair) -> Bool {
            one.name.hasBytes(of: other.name) && one.value.hasBytes(of: other.value)
        }

        package func hash(into hasher: inout Hasher) {
            for byte in name.utf8 { hasher.combine(byte) }
            hasher.combine(0 as UInt8)
            for byte in value.utf8 { hasher.combine(byte) }
        }
    }

    /// The name of the pair that libsecret adds to say which pairs an item has. Many items of many programs share one.
    package static let schema = "xdg:schema"

    /// The pairs, in the order of the bytes of their names, without a repeated name.
    package let all: [Pair]

    /// Nil if a name repeats, or for more pairs or bytes than `Limits.secretPairs` and `Limits.secretPairBytes`.
    package init?(_ pairs: [Pair]) {
        let sorted = pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        guard sorted.count <= Limits.secretPairs,
            sorted.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Limits.secretPairBytes,
            zip(sorted, sorted.dropFirst()).allSatisfy({ !$0.name.hasBytes(of: $1.name) })
        else { return nil }
        all = sorted
    }

    private init() { all = [] }
    package static let none = SecretPairs()

    /// Whether every pair is among these.
    package func contains(_ others: SecretPairs) -> Bool { others.all.allSatisfy(all.contains) }

    /// Whether a pair besides the schema is given, which names an item rather than a kind of items.
    package var namesMoreThanSchema: Bool { all.contains { !$0.isSchema } }

    /// The other pairs.
    package var withoutSchema: SecretPairs { SecretPairs(all.filter { !$0.isSchema }) ?? .none }
}

/// What the person answered when a program asked to read an item of another one, in the order of a prompt.
package enum SecretAnswer: String, CaseIterable, Sendable {
    /// Not stored.
    case once
    /// In the memory of the daemon only, until the login session ends or the keychain is locked.
    case session
    case always
    case never

    /// The answer of that text; nil for any other text.
    package init?(entered text: SecretBytes) {
        guard let answer = Self.allCases.first(where: { SecretBytes($0.rawValue.utf8) == text }) else { return nil }
        self = answer
    }
}

/// Names of the Secret Service.
package enum SecretService {
    /// The access group of its items. No program can name it.
    package static let group = "org.freedesktop.secrets"
    /// The collection that exists always, with the aliases `default` and `login`.
    package static let login = "login"
    /// Its label.
    package static let loginLabel = "Login"
}
