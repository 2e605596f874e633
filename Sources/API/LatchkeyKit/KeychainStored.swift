// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A property whose value is stored in the keychain.
///
///     @KeychainStored(.password(service: "example.com", account: "token")) var token: String?
///
/// Setting nil deletes the item. The property does not throw: a failed read returns nil, a failed write leaves the item
/// unchanged, and `$token.error` has the reason. `$token.read()` and `$token.write(_:)` throw instead. A `String` is
/// stored as UTF-8, `Data` unchanged, any other type as JSON.
///
/// Each access blocks for a keychain call and may prompt; no value is cached in memory.
@propertyWrapper
public struct KeychainStored<Value: Codable & Sendable>: Sendable {
    private let entry: KeychainEntry
    private let protection: KeychainProtection
    private let prompt: KeychainPrompt
    private let store: KeychainStore
    private let last = LastError()

    /// Creates a property for a keychain item.
    ///
    /// - Parameters:
    ///   - entry: the item of the value.
    ///   - protection: when the item can be read, and which proof is required.
    ///   - prompt: how the user is asked when the item demands a proof.
    ///   - store: the keychain.
    public init(
        _ entry: KeychainEntry, protection: KeychainProtection = .standard, prompt: KeychainPrompt = .standard,
        store: KeychainStore = KeychainStore()
    ) {
        (self.entry, self.protection, self.prompt, self.store) = (entry, protection, prompt, store)
    }

    /// The value; nil when there is no item or it cannot be read. Each access blocks and may prompt.
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

    /// The property wrapper itself, with functions that throw.
    public var projectedValue: KeychainStored<Value> { self }

    /// Why the last access to the wrapped value failed; nil when it succeeded.
    public var error: KeychainError? { last.get() }

    /// Reads the value from the keychain.
    ///
    /// Blocks, also while a prompt is shown.
    ///
    /// - Returns: the value; nil when there is no item.
    /// - Throws: `KeychainError`: `undecodable` when the item has no value of this type, else as
    ///   `KeychainStore.data(of:prompt:)`.
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

    /// Stores a value in the keychain, or deletes the item.
    ///
    /// Blocks; prompts when the item exists and demands a proof.
    ///
    /// - Parameter value: the value, at most 1 MiB when encoded. nil, an empty text and empty data delete the item.
    /// - Throws: `KeychainError`: `unencodable` when the value cannot be encoded, else as
    ///   `KeychainStore.store(_:in:protection:label:prompt:)`.
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
