// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Stores rights of this app durably, each with a key of the Secure Enclave. Apple: `LARightStore`.
///
/// No method blocks or prompts. Completion handlers are called once, on a thread of their own, never on the main
/// thread; asynchronous methods suspend without blocking a thread of the pool. Errors are those of the keychain, in
/// `NSOSStatusErrorDomain`: `errSecDuplicateItem` for an identifier that is in use, `errSecItemNotFound` for one that
/// does not exist, `errSecNotAvailable` without a Secure Enclave or a daemon.
public final class LARightStore: NSObject, Sendable {
    /// The right store of this app. Apple: `LARightStore.shared`.
    public class var shared: LARightStore { LARightStore() }

    override init() {}

    /// Loads a right and calls `handler` with it. Apple: `LARightStore.right(forIdentifier:completion:)`.
    ///
    /// - Parameters:
    ///   - identifier: the identifier that the right was saved with.
    ///   - handler: called with the right, which is not authorized yet, and nil; or with nil and an error:
    ///     `errSecItemNotFound` when there is none, `errSecDecode` when its record is malformed.
    @preconcurrency
    public func right(
        forIdentifier identifier: String,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = Carried(value: LAContext())
        detached(handler) { try Self.right(identifier, context.value) }
    }

    /// Loads a right and returns it. Apple: `LARightStore.right(forIdentifier:)`.
    /// Suspends while the daemon works; never prompts.
    ///
    /// - Parameter identifier: the identifier that the right was saved with.
    /// - Returns: the right, which is not authorized yet.
    /// - Throws: `errSecItemNotFound` when there is none, `errSecDecode` when its record is malformed.
    nonisolated(nonsending) public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        let context = Carried(value: LAContext())
        return try await detached { Carried(value: try Self.right(identifier, context.value)) }.value
    }

    /// Saves a right with a new key and calls `handler` with it. Apple:
    /// `LARightStore.saveRight(_:identifier:completion:)`.
    ///
    /// - Parameters:
    ///   - right: its requirement and its tag are saved.
    ///   - identifier: the identifier to load the right with.
    ///   - handler: called with the saved right, which is not authorized, and nil; or with nil and an error:
    ///     `errSecDuplicateItem` when the identifier is in use, `errSecNotAvailable` without a Secure Enclave.
    ///     Nothing is saved then.
    @preconcurrency
    public func saveRight(
        _ right: LARight, identifier: String,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = Carried(value: LAContext())
        let right = Carried(value: right)
        detached(handler) { try Self.save(right.value, identifier, nil, context.value) }
    }

    /// Saves a right with a new key and returns it. Apple: `LARightStore.saveRight(_:identifier:)`.
    /// Suspends while the daemon works; never prompts.
    ///
    /// - Parameters:
    ///   - right: its requirement and its tag are saved.
    ///   - identifier: the identifier to load the right with.
    /// - Returns: the saved right, which is not authorized.
    /// - Throws: `errSecDuplicateItem` when the identifier is in use, `errSecNotAvailable` without a Secure Enclave.
    ///   Nothing is saved then.
    nonisolated(nonsending) public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight
    {
        let context = Carried(value: LAContext())
        let right = Carried(value: right)
        return try await detached { Carried(value: try Self.save(right.value, identifier, nil, context.value)) }.value
    }

    /// Saves a right with a new key and a secret. Apple: `LARightStore.saveRight(_:identifier:secret:completion:)`.
    ///
    /// - Parameters:
    ///   - right: its requirement and its tag are saved.
    ///   - identifier: the identifier to load the right with.
    ///   - secret: the bytes to protect, at most 1 MiB.
    ///   - handler: called with the saved right, which is not authorized, and nil; or with nil and an error:
    ///     `errSecDuplicateItem` when the identifier is in use, `errSecDataTooLarge` for a larger secret,
    ///     `errSecNotAvailable` without a Secure Enclave. Nothing is saved then.
    @preconcurrency
    public func saveRight(
        _ right: LARight, identifier: String, secret: Data,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = Carried(value: LAContext())
        let right = Carried(value: right)
        detached(handler) { try Self.save(right.value, identifier, secret, context.value) }
    }

    /// Saves a right with a new key and a secret. Apple: `LARightStore.saveRight(_:identifier:secret:)`.
    /// Suspends while the daemon works; never prompts.
    ///
    /// - Parameters:
    ///   - right: its requirement and its tag are saved.
    ///   - identifier: the identifier to load the right with.
    ///   - secret: the bytes to protect, at most 1 MiB.
    /// - Returns: the saved right, which is not authorized.
    /// - Throws: `errSecDuplicateItem` when the identifier is in use, `errSecDataTooLarge` for a larger secret,
    ///   `errSecNotAvailable` without a Secure Enclave. Nothing is saved then.
    nonisolated(nonsending) public func saveRight(
        _ right: LARight, identifier: String, secret: Data
    ) async throws -> LAPersistedRight {
        let context = Carried(value: LAContext())
        let right = Carried(value: right)
        return try await detached { Carried(value: try Self.save(right.value, identifier, secret, context.value)) }
            .value
    }

    /// Removes a right with its key and its secret. Apple: `LARightStore.removeRight(_:completion:)`.
    ///
    /// - Parameters:
    ///   - right: the right to remove.
    ///   - handler: called with nil, or with an error: `errSecItemNotFound` when the right was removed before.
    @preconcurrency
    public func removeRight(_ right: LAPersistedRight, completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        removeRight(forIdentifier: right.record.identifier, completion: handler)
    }

    /// Removes a right with its key and its secret. Apple: `LARightStore.removeRight(_:)`.
    /// Suspends while the daemon works; never prompts.
    ///
    /// - Parameter right: the right to remove.
    /// - Throws: `errSecItemNotFound` when the right was removed before.
    nonisolated(nonsending) public func removeRight(_ right: LAPersistedRight) async throws {
        try await removeRight(forIdentifier: right.record.identifier)
    }

    /// Removes the right of an identifier with its key and its secret. Apple:
    /// `LARightStore.removeRight(forIdentifier:completion:)`.
    ///
    /// - Parameters:
    ///   - identifier: the identifier that the right was saved with.
    ///   - handler: called with nil, or with an error: `errSecItemNotFound` when there is no such right.
    @preconcurrency
    public func removeRight(
        forIdentifier identifier: String, completion handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let context = Carried(value: LAContext())
        detachedCall(handler) { try RightRecord.remove(identifier, context.value) }
    }

    /// Removes the right of an identifier with its key and its secret. Apple:
    /// `LARightStore.removeRight(forIdentifier:)`. Suspends while the daemon works; never prompts.
    ///
    /// - Parameter identifier: the identifier that the right was saved with.
    /// - Throws: `errSecItemNotFound` when there is no such right.
    nonisolated(nonsending) public func removeRight(forIdentifier identifier: String) async throws {
        let context = Carried(value: LAContext())
        try await detached { try RightRecord.remove(identifier, context.value) }
    }

    /// Removes all rights of this app. Apple: `LARightStore.removeAllRights(completion:)`.
    ///
    /// - Parameter handler: called with nil, or with the first error; rights that were removed before it stay removed.
    @preconcurrency
    public func removeAllRights(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        let context = Carried(value: LAContext())
        detachedCall(handler) { try Self.removeAll(context.value) }
    }

    /// Removes all rights of this app. Apple: `LARightStore.removeAllRights()`.
    /// Suspends while the daemon works; never prompts.
    ///
    /// - Throws: the first error; rights that were removed before it stay removed.
    nonisolated(nonsending) public func removeAllRights() async throws {
        let context = Carried(value: LAContext())
        try await detached { try Self.removeAll(context.value) }
    }

    // MARK: - Blocking work

    private static func right(_ identifier: String, _ context: LAContext) throws -> LAPersistedRight {
        guard let record = try RightRecord.load(identifier, context), let right = LAPersistedRight(record) else {
            throw RightRecord.failure(errSecItemNotFound)
        }
        return right
    }

    private static func save(
        _ right: LARight, _ identifier: String, _ secret: Data?, _ context: LAContext
    ) throws -> LAPersistedRight {
        guard let saved = LAPersistedRight(try RightRecord.save(right, identifier, secret, context)) else {
            throw RightRecord.failure(errSecInternalComponent)
        }
        return saved
    }

    private static func removeAll(_ context: LAContext) throws {
        for identifier in try RightRecord.identifiers(context) { try RightRecord.remove(identifier, context) }
    }
}
