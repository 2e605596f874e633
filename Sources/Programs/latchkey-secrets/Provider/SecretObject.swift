// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// An object of the Secret Service, which its path names.
enum SecretObject: Hashable, Sendable {
    case service
    case collection(String)
    case item(collection: String, String)
    case session(UInt64)
    case prompt(UInt64)

    static let root = "/org/freedesktop/secrets"
    /// The path that means that there is no object, such as no prompt.
    static let none = "/"
    /// The collection in the memory of the provider, which ends with it.
    static let sessionCollection = "session"
    /// The names under which collections are found by `ReadAlias` and below `/aliases`.
    static let aliases = [
        "default": SecretService.login, "login": SecretService.login, sessionCollection: sessionCollection,
    ]

    /// The object of a path; nil if no object can have it. The object need not exist.
    init?(path: String) {
        // Not by `begins`, which is as fast only where the compiler sees its text.
        guard path.utf8.starts(with: Self.root.utf8) else { return nil }
        let rest = path.utf8.dropFirst(Self.root.utf8.count)
        guard let first = rest.first else {
            self = .service
            return
        }
        guard first == UInt8(ascii: "/") else { return nil }
        let parts = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst().map {
            String(decoding: $0, as: UTF8.self)
        }
        switch (parts.first, parts.count) {
        case ("collection", 2):
            guard let name = Self.name(parts[1]) else { return nil }
            self = .collection(name)
        case ("collection", 3):
            guard let name = Self.name(parts[1]), let item = Self.name(parts[2]) else { return nil }
            self = .item(collection: name, item)
        case ("aliases", 2):
            guard let alias = Self.name(parts[1]), let name = Self.aliases[alias] else { return nil }
            self = .collection(name)
        case ("session", 2):
            guard let number = Self.number(parts[1]) else { return nil }
            self = .session(number)
        case ("prompt", 2):
            guard let number = Self.number(parts[1]) else { return nil }
            self = .prompt(number)
        default: return nil
        }
    }

    var path: String {
        switch self {
        case .service: Self.root
        case .collection(let name): "\(Self.root)/collection/\(Self.element(name))"
        case .item(let collection, let item):
            "\(Self.root)/collection/\(Self.element(collection))/\(Self.element(item))"
        case .session(let number): "\(Self.root)/session/\(number)"
        case .prompt(let number): "\(Self.root)/prompt/\(number)"
        }
    }

    /// The interface of its kind.
    var interface: BusInterface {
        switch self {
        case .service: .service
        case .collection: .collection
        case .item: .item
        case .session: .session
        case .prompt: .prompt
        }
    }

    // MARK: - Elements of paths

    /// A name as an element of a path: letters and digits as they are, other bytes as `_` and two hexadecimal digits.
    private static func element(_ name: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = name.utf8.flatMap { byte in
            isPlain(byte)
                ? [byte] : [UInt8(ascii: "_"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
    }

    /// The name of an element; nil unless it is the one that `element` makes of the name.
    private static func name(_ element: String) -> String? {
        // Most names need no escape.
        if element.utf8.allSatisfy(isPlain) {
            return (1...Limits.secretNameBytes).contains(element.utf8.count) ? element : nil
        }
        var bytes: [UInt8] = []
        var rest = Array(element.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard !bytes.isEmpty, bytes.count <= Limits.secretNameBytes,
            let name = String(validating: bytes, as: UTF8.self),
            self.element(name).hasBytes(of: element)
        else { return nil }
        return name
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func number(_ element: String) -> UInt64? {
        guard let number = UInt64(element), String(number).hasBytes(of: element) else { return nil }
        return number
    }
}
