// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

// Texts, and values that are encoded as JSON.

extension KeychainStore {
    /// Stores a text as UTF-8. Apple: `SecItemAdd`, `SecItemUpdate`.
    ///
    /// Blocks; may prompt when the item exists and demands a proof.
    ///
    /// - Parameters:
    ///   - text: at most 1 MiB in UTF-8. An empty text deletes the item.
    ///   - entry: the item.
    ///   - protection: when the item can be read, and which proof is required; replaces that of an existing item.
    ///   - label: the name of the item in lists; nil leaves it unchanged.
    ///   - prompt: how the user is asked.
    /// - Throws: `KeychainError`, as the form for `Data`; the item is unchanged then.
    public func store(
        _ text: String, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        prompt: KeychainPrompt = .standard
    ) throws(KeychainError) {
        try store(Data(text.utf8), in: entry, protection: protection, label: label, prompt: prompt)
    }

    /// Reads a UTF-8 text. Apple: `SecItemCopyMatching`.
    ///
    /// Blocks, also while a prompt is shown.
    ///
    /// - Parameters:
    ///   - entry: the item.
    ///   - prompt: how the user is asked when the item demands a proof.
    /// - Returns: the text.
    /// - Throws: `KeychainError`: `undecodable` when the value is not UTF-8, else as `data(of:prompt:)`.
    public func string(of entry: KeychainEntry, prompt: KeychainPrompt = .standard) throws(KeychainError) -> String {
        try KeychainCoding.string(try data(of: entry, prompt: prompt))
    }

    /// Stores a value as JSON. Apple: `SecItemAdd`, `SecItemUpdate`.
    ///
    /// Blocks; may prompt when the item exists and demands a proof.
    ///
    /// - Parameters:
    ///   - value: the value; its JSON has at most 1 MiB.
    ///   - entry: the item.
    ///   - protection: when the item can be read, and which proof is required; replaces that of an existing item.
    ///   - label: the name of the item in lists; nil leaves it unchanged.
    ///   - prompt: how the user is asked.
    /// - Throws: `KeychainError`: `unencodable` when the value cannot be encoded, else as the form for `Data`; the
    ///   item is unchanged then.
    public func store(
        encoding value: some Encodable, in entry: KeychainEntry, protection: KeychainProtection = .standard,
        label: String? = nil, prompt: KeychainPrompt = .standard
    ) throws(KeychainError) {
        try store(try KeychainCoding.json(value), in: entry, protection: protection, label: label, prompt: prompt)
    }

    /// Reads a value that was stored as JSON. Apple: `SecItemCopyMatching`.
    ///
    /// Blocks, also while a prompt is shown.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - entry: the item.
    ///   - prompt: how the user is asked when the item demands a proof.
    /// - Returns: the value.
    /// - Throws: `KeychainError`: `undecodable` when the item has no value of that type, else as `data(of:prompt:)`.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, of entry: KeychainEntry, prompt: KeychainPrompt = .standard
    ) throws(KeychainError) -> Value {
        try KeychainCoding.value(type, try data(of: entry, prompt: prompt))
    }
}

/// Encodes values as bytes and decodes them. Unlike those of a decoder, its error messages contain no part of a value.
enum KeychainCoding {
    static func string(_ data: Data) throws(KeychainError) -> String {
        guard let text = String(data: data, encoding: .utf8) else {
            throw KeychainError(.undecodable, status: errSecDecode, message: "The item's value is not UTF-8 text.")
        }
        return text
    }

    static func json(_ value: some Encodable) throws(KeychainError) -> Data {
        do {
            return try JSONEncoder().encode(value)
        } catch {
            throw KeychainError(
                .unencodable, status: errSecParam, message: "A value of \(type(of: value)) cannot be encoded.")
        }
    }

    static func value<Value: Decodable>(_ type: Value.Type, _ data: Data) throws(KeychainError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw KeychainError(
                .undecodable, status: errSecDecode, message: "The item's value cannot be decoded as \(type).")
        }
    }
}
