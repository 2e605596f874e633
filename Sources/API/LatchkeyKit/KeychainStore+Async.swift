// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LocalAuthentication
import Security

// The asynchronous forms of the functions. Each waits for the keychain and the user on a thread of its own, so that it
// blocks neither the caller's actor nor a thread of the pool.

extension KeychainStore {
    /// Stores a value, without blocking a thread of the pool. Apple: `SecItemAdd`, `SecItemUpdate`.
    ///
    /// May prompt when the item exists and demands a proof. Cancelling the task dismisses the prompt, unless `prompt`
    /// contains a context of the caller; the error is `cancelled` then.
    ///
    /// - Parameters:
    ///   - data: the value, at most 1 MiB. An empty value deletes the item.
    ///   - entry: the item.
    ///   - protection: when the item can be read, and which proof is required; replaces that of an existing item.
    ///   - label: the name of the item in lists; nil leaves it unchanged.
    ///   - description: what kind of item it is, in a few words for people, such as "encrypted note"; nil leaves it unchanged.
    ///     Apple: `kSecAttrDescription`.
    ///   - comment: what depends on the item, in a sentence for people; nil leaves it unchanged. Apple: `kSecAttrComment`.
    ///   - prompt: how the user is asked.
    /// - Throws: `KeychainError`, as the synchronous form; the item is unchanged then.
    public func store(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        description: String? = nil, comment: String? = nil, prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) {
        try await waiting(prompt) { (prompt) throws(KeychainError) in
            try store(
                data, in: entry, protection: protection, label: label, description: description, comment: comment,
                prompt: prompt)
        }
    }

    /// Stores a value in a new item, without blocking a thread of the pool. Apple: `SecItemAdd`.
    ///
    /// Prompts only for the passcode, as the synchronous form.
    ///
    /// - Parameters:
    ///   - data: the value, at most 1 MiB.
    ///   - entry: the item.
    ///   - protection: when the item can be read, and which proof is required.
    ///   - label: the name of the item in lists; nil for none.
    ///   - description: what kind of item it is, in a few words for people, such as "encrypted note"; nil for a password.
    ///     Apple: `kSecAttrDescription`.
    ///   - comment: what depends on the item, in a sentence for people; nil for nothing. Apple: `kSecAttrComment`.
    ///   - prompt: how the user is asked; provides the password for `KeychainProtection.applicationPassword`.
    /// - Throws: `KeychainError`: `alreadyThere` when the item exists; it is unchanged then.
    public func add(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        description: String? = nil, comment: String? = nil, prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) {
        try await waiting(prompt) { (prompt) throws(KeychainError) in
            try add(
                data, in: entry, protection: protection, label: label, description: description, comment: comment,
                prompt: prompt)
        }
    }

    /// Stores a text as UTF-8, without blocking a thread of the pool. Apple: `SecItemAdd`, `SecItemUpdate`.
    ///
    /// May prompt when the item exists and demands a proof. Cancelling the task has the same effect as in the form for
    /// `Data`.
    ///
    /// - Parameters:
    ///   - text: at most 1 MiB in UTF-8. An empty text deletes the item.
    ///   - entry: the item.
    ///   - protection: when the item can be read, and which proof is required; replaces that of an existing item.
    ///   - label: the name of the item in lists; nil leaves it unchanged.
    ///   - prompt: how the user is asked.
    /// - Throws: `KeychainError`, as the synchronous form; the item is unchanged then.
    public func store(
        _ text: String, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) {
        try await store(Data(text.utf8), in: entry, protection: protection, label: label, prompt: prompt)
    }

    /// Stores a value as JSON, without blocking a thread of the pool. Apple: `SecItemAdd`, `SecItemUpdate`.
    ///
    /// May prompt when the item exists and demands a proof. Cancelling the task has the same effect as in the form for
    /// `Data`.
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
    ) async throws(KeychainError) {
        try await store(try KeychainCoding.json(value), in: entry, protection: protection, label: label, prompt: prompt)
    }

    /// Reads a value, without blocking a thread of the pool. Apple: `SecItemCopyMatching`.
    ///
    /// May prompt. Cancelling the task dismisses the prompt, unless `prompt` contains a context of the caller; the
    /// error is `cancelled` then.
    ///
    /// - Parameters:
    ///   - entry: the item.
    ///   - prompt: how the user is asked when the item demands a proof.
    /// - Returns: the value.
    /// - Throws: `KeychainError`, as the synchronous form.
    public func data(of entry: KeychainEntry, prompt: KeychainPrompt = .standard) async throws(KeychainError) -> Data {
        try await waiting(prompt) { (prompt) throws(KeychainError) in try data(of: entry, prompt: prompt) }
    }

    /// Reads a UTF-8 text, without blocking a thread of the pool. Apple: `SecItemCopyMatching`.
    ///
    /// May prompt. Cancelling the task has the same effect as in `data(of:prompt:)`.
    ///
    /// - Parameters:
    ///   - entry: the item.
    ///   - prompt: how the user is asked when the item demands a proof.
    /// - Returns: the text.
    /// - Throws: `KeychainError`: `undecodable` when the value is not UTF-8, else as `data(of:prompt:)`.
    public func string(
        of entry: KeychainEntry, prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) -> String { try KeychainCoding.string(try await data(of: entry, prompt: prompt)) }

    /// Reads a value that was stored as JSON, without blocking a thread of the pool. Apple: `SecItemCopyMatching`.
    ///
    /// May prompt. Cancelling the task has the same effect as in `data(of:prompt:)`.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - entry: the item.
    ///   - prompt: how the user is asked when the item demands a proof.
    /// - Returns: the value.
    /// - Throws: `KeychainError`: `undecodable` when the item has no value of that type, else as `data(of:prompt:)`.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, of entry: KeychainEntry, prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) -> Value {
        try KeychainCoding.value(type, try await data(of: entry, prompt: prompt))
    }

    /// Deletes an item, without blocking a thread of the pool. Apple: `SecItemDelete`.
    ///
    /// Never prompts.
    ///
    /// - Parameter entry: the item; one that does not exist is not an error.
    /// - Throws: `KeychainError` when the keychain cannot be used.
    public func remove(_ entry: KeychainEntry) async throws(KeychainError) {
        try await BlockingExecutor.run { () throws(KeychainError) in try remove(entry) }
    }

    /// Returns whether an item exists, without blocking a thread of the pool. Apple: `SecItemCopyMatching`.
    ///
    /// Never prompts.
    ///
    /// - Parameter entry: the item.
    /// - Returns: true when the item exists, also when reading it demands a proof.
    /// - Throws: `KeychainError` when the keychain cannot be used.
    public func contains(_ entry: KeychainEntry) async throws(KeychainError) -> Bool {
        try await BlockingExecutor.run { () throws(KeychainError) in try contains(entry) }
    }

    /// Returns the accounts of a service, without blocking a thread of the pool. Apple: `SecItemCopyMatching`.
    ///
    /// Never prompts: items that demand a proof are left out.
    ///
    /// - Parameter service: the service of generic passwords.
    /// - Returns: the accounts, in the order in which they were added.
    /// - Throws: `KeychainError` when the keychain cannot be used.
    public func accounts(service: String) async throws(KeychainError) -> [String] {
        try await BlockingExecutor.run { () throws(KeychainError) in try accounts(service: service) }
    }

    /// Runs blocking work of the app, such as `SecItem` calls, on a thread of its own, so that no thread of the pool
    /// is blocked.
    ///
    /// - Parameter body: work that may block until the user has answered a prompt. Task-local values of the caller
    ///   are visible.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    public static func inBackground<Value: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value { try await BlockingExecutor.run(body) }

    /// Runs `body` with a context that was created before the thread changes, so that cancelling the task can
    /// invalidate it.
    func waiting<Value: Sendable>(
        _ prompt: KeychainPrompt, _ body: @Sendable (KeychainPrompt) throws(KeychainError) -> Value
    ) async throws(KeychainError) -> Value {
        let made = try prompt.makeContext()
        let (context, isOurs) = (Carried(value: made.context), made.isOurs)
        // The cancellation handler has no typed throws.
        let result = await withTaskCancellationHandler {
            await BlockingExecutor.result { () throws(KeychainError) in try body(.context(context.value)) }
        } onCancel: {
            if isOurs { context.value.invalidate() }
        }
        do throws(KeychainError) {
            return try result.get()
        } catch {
            // The keychain reports an invalidated context as a failed authentication.
            guard isOurs, Task.isCancelled, error.kind == .authenticationFailed else { throw error }
            throw KeychainError(status: errSecUserCanceled)
        }
    }
}
