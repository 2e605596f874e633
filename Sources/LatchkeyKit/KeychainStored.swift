// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A property whose value is in the keychain.
///
///     @KeychainStored(.password(service: "example.com", account: "token")) var token: String?
///
/// nil deletes the item. A property cannot throw: reading gives nil when it fails, writing leaves the item as it was, and
/// `$token.error` tells. `$token.read()` and `$token.write(_:)` throw. Texts are kept as UTF-8, `Data` as it is, anything
/// else as JSON. Each access goes to the keychain and may prompt; nothing is kept in memory.
@propertyWrapper
public struct KeychainStored<Value: Codable & Sendable>: Sendable {
    private let entry: KeychainEntry
    private let protection: KeychainProtection
    private let prompt: KeychainPrompt
    private let store: KeychainStore
    private let last = LastError()

    /// Takes where and how the value is kept.
    ///
    /// - Parameters:
    ///   - entry: which item.
    ///   - protection: when it can be read, and by whom.
    ///   - prompt: how the person is asked.
    ///   - store: the keychain.
    public init(
        _ entry: KeychainEntry, protection: KeychainProtection = .standard, prompt: KeychainPrompt = .standard,
        store: KeychainStore = KeychainStore()
    ) {
        self.entry = entry
        self.protection = protection
        self.prompt = prompt
        self.store = store
    }

    /// The value; nil when there is none or it cannot be read.
    public var wrappedValue: Value? {
        get {
            do throws(KeychainError) {
                let value = try read()
                last.set(nil)
                return value
            } catch {
                last.set(error)
                return nil
            }
        }
        nonmutating set {
            do throws(KeychainError) {
                try write(newValue)
                last.set(nil)
            } catch {
                last.set(error)
            }
        }
    }

    /// The property itself, with functions that throw.
    public var projectedValue: KeychainStored<Value> { self }

    /// Why the last access by the property's own name failed; nil when it did not.
    public var error: KeychainError? { last.get() }

    /// Reads the value; nil when there is none.
    public func read() throws(KeychainError) -> Value? {
        let data: Data
        do throws(KeychainError) {
            data = try store.data(of: entry, prompt: prompt)
        } catch {
            guard error.kind == .itemNotFound else { throw error }
            return nil
        }
        if Value.self == Data.self { return data as? Value }
        if Value.self == String.self { return try KeychainCoding.string(data) as? Value }
        return try KeychainCoding.value(Value.self, data)
    }

    /// Keeps a value; nil, an empty text and empty data delete the item.
    public func write(_ value: Value?) throws(KeychainError) {
        guard let value else { return try store.remove(entry) }
        let data: Data =
            switch value {
            case let data as Data: data
            case let text as String: Data(text.utf8)
            default: try KeychainCoding.json(value)
            }
        try store.store(data, in: entry, protection: protection, prompt: prompt)
    }

    private final class LastError: Sendable {
        private let error = Mutex<KeychainError?>(nil)
        func get() -> KeychainError? { error.withLock { $0 } }
        func set(_ new: KeychainError?) { error.withLock { $0 = new } }
    }
}
