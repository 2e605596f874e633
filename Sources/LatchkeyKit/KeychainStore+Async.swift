// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Security

// The same functions for asynchronous code. Each runs on a thread of its own while it waits for the keychain or the
// person, so that neither the caller's actor nor a thread of the pool is held.

extension KeychainStore {
    /// Keeps a value, without holding a thread of the pool. See `store` of `Data`.
    public func store(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) {
        try await waiting(prompt) { (prompt) throws(KeychainError) in
            try store(data, in: entry, protection: protection, label: label, prompt: prompt)
        }
    }

    /// Keeps a value where there is none, without holding a thread of the pool. See `add`.
    public func add(
        _ data: Data, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) {
        try await waiting(prompt) { (prompt) throws(KeychainError) in
            try add(data, in: entry, protection: protection, label: label, prompt: prompt)
        }
    }

    /// Keeps a text, without holding a thread of the pool. See `store` of `String`.
    public func store(
        _ text: String, in entry: KeychainEntry, protection: KeychainProtection = .standard, label: String? = nil,
        prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) {
        try await store(Data(text.utf8), in: entry, protection: protection, label: label, prompt: prompt)
    }

    /// Keeps a value as JSON, without holding a thread of the pool. See `store(encoding:)`.
    public func store(
        encoding value: some Encodable, in entry: KeychainEntry, protection: KeychainProtection = .standard,
        label: String? = nil, prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) {
        try await store(
            try KeychainCoding.json(value), in: entry, protection: protection, label: label, prompt: prompt)
    }

    /// Reads a value, without holding a thread of the pool. See `data(of:prompt:)`.
    ///
    /// Cancelling the task takes the prompt away, unless the context is the caller's own; the kind is `cancelled` then.
    public func data(of entry: KeychainEntry, prompt: KeychainPrompt = .standard) async throws(KeychainError) -> Data {
        try await waiting(prompt) { (prompt) throws(KeychainError) in try data(of: entry, prompt: prompt) }
    }

    /// Reads a text, without holding a thread of the pool. See `string(of:prompt:)`.
    public func string(
        of entry: KeychainEntry, prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) -> String { try KeychainCoding.string(try await data(of: entry, prompt: prompt)) }

    /// Reads a value that was kept as JSON, without holding a thread of the pool. See `value(_:of:prompt:)`.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, of entry: KeychainEntry, prompt: KeychainPrompt = .standard
    ) async throws(KeychainError) -> Value {
        try KeychainCoding.value(type, try await data(of: entry, prompt: prompt))
    }

    /// Deletes an item, without holding a thread of the pool. See `remove(_:)`.
    public func remove(_ entry: KeychainEntry) async throws(KeychainError) {
        try await BlockingExecutor.run { () throws(KeychainError) in try remove(entry) }
    }

    /// Whether there is such an item, without holding a thread of the pool. See `contains(_:)`.
    public func contains(_ entry: KeychainEntry) async throws(KeychainError) -> Bool {
        try await BlockingExecutor.run { () throws(KeychainError) in try contains(entry) }
    }

    /// The accounts of a service, without holding a thread of the pool. See `accounts(service:)`.
    public func accounts(service: String) async throws(KeychainError) -> [String] {
        try await BlockingExecutor.run { () throws(KeychainError) in try accounts(service: service) }
    }

    /// Runs calls of `Security` of the app's own on a thread that may wait, so that no thread of the pool does.
    ///
    /// - Parameter body: may block for as long as a person takes. It sees the task-local values of the caller.
    public static func inBackground<Value: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value { try await BlockingExecutor.run(body) }

    /// Makes the context before the thread changes, so that cancelling can end it.
    func waiting<Value: Sendable>(
        _ prompt: KeychainPrompt, _ body: @Sendable (KeychainPrompt) throws(KeychainError) -> Value
    ) async throws(KeychainError) -> Value {
        let made = try prompt.makeContext()
        let (context, isOurs) = (Carried(value: made.context), made.isOurs)
        // The handler has no typed throws.
        let result = await withTaskCancellationHandler {
            await BlockingExecutor.result { () throws(KeychainError) in try body(.context(context.value)) }
        } onCancel: {
            if isOurs { context.value.invalidate() }
        }
        do throws(KeychainError) {
            return try result.get()
        } catch {
            // To the keychain, a context that has ended is one more person who was not recognised.
            guard isOurs, Task.isCancelled, error.kind == .authenticationFailed else { throw error }
            throw KeychainError(status: errSecUserCanceled)
        }
    }
}
