// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

// Texts, and values that can be encoded.

extension KeychainStore {
    /// Keeps a text as UTF-8: adds the item or changes the one there is. An empty text deletes it.
    ///
    /// - Throws: as `store` of `Data`.
    public func store(
        _ text: String, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        prompt: KeychainPrompt = .standard
    ) throws(KeychainError) {
        try store(Data(text.utf8), in: entry, protection: protection, label: label, prompt: prompt)
    }

    /// Reads a text.
    ///
    /// - Throws: as `data(of:prompt:)`, and `KeychainError` of kind `undecodable` for bytes that are no UTF-8.
    public func string(of entry: KeychainEntry, prompt: KeychainPrompt = .standard) throws(KeychainError) -> String {
        try KeychainCoding.string(try data(of: entry, prompt: prompt))
    }

    /// Keeps a value as JSON: adds the item or changes the one there is.
    ///
    /// - Throws: as `store` of `Data`, and `KeychainError` of kind `unencodable` for a value that no JSON holds.
    public func store(
        encoding value: some Encodable, in entry: KeychainEntry, protection: KeychainProtection = .standard,
        label: String? = nil, prompt: KeychainPrompt = .standard
    ) throws(KeychainError) {
        try store(
            try KeychainCoding.json(value), in: entry, protection: protection, label: label, prompt: prompt)
    }

    /// Reads a value that was kept as JSON.
    ///
    /// - Throws: as `data(of:prompt:)`, and `KeychainError` of kind `undecodable` for bytes that are no such value.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, of entry: KeychainEntry, prompt: KeychainPrompt = .standard
    ) throws(KeychainError) -> Value {
        try KeychainCoding.value(type, try data(of: entry, prompt: prompt))
    }
}

/// Bytes to values and back. The words of errors hold no part of a value: a decoder's own would.
enum KeychainCoding {
    static func string(_ data: Data) throws(KeychainError) -> String {
        guard let text = String(data: data, encoding: .utf8) else {
            throw KeychainError(.undecodable, status: errSecDecode, message: "The item's value is no UTF-8 text.")
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
            throw KeychainError(.undecodable, status: errSecDecode, message: "The item's value is no \(type).")
        }
    }
}
