// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Keeps rights of this app beyond its process, each with a key of the Secure Enclave. Apple: `LARightStore`.
///
/// Errors are those of the keychain, in `NSOSStatusErrorDomain`: `errSecDuplicateItem` for an identifier that is taken,
/// `errSecItemNotFound` for one that is not there, `errSecNotAvailable` where there is no Secure Enclave. Completion
/// handlers are called once, never on the main thread.
public final class LARightStore: NSObject, Sendable {
    /// The store of this app.
    public class var shared: LARightStore { LARightStore() }

    override init() {}

    /// Finds the right of that identifier.
    @preconcurrency
    public func right(
        forIdentifier identifier: String,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = Carried(value: LAContext())
        detached(handler) { try Self.right(identifier, context.value) }
    }

    /// The right of that identifier.
    nonisolated(nonsending) public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        let context = Carried(value: LAContext())
        return try await detached { Carried(value: try Self.right(identifier, context.value)) }.value
    }

    /// Saves a right, with a new key.
    @preconcurrency
    public func saveRight(
        _ right: LARight, identifier: String,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = Carried(value: LAContext())
        let right = Carried(value: right)
        detached(handler) { try Self.save(right.value, identifier, nil, context.value) }
    }

    /// Saves a right, with a new key.
    nonisolated(nonsending) public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight
    {
        let context = Carried(value: LAContext())
        let right = Carried(value: right)
        return try await detached { Carried(value: try Self.save(right.value, identifier, nil, context.value)) }.value
    }

    /// Saves a right, with a new key and a secret of at most 1 MiB.
    @preconcurrency
    public func saveRight(
        _ right: LARight, identifier: String, secret: Data,
        completion handler: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = Carried(value: LAContext())
        let right = Carried(value: right)
        detached(handler) { try Self.save(right.value, identifier, secret, context.value) }
    }

    /// Saves a right, with a new key and a secret of at most 1 MiB.
    nonisolated(nonsending) public func saveRight(
        _ right: LARight, identifier: String, secret: Data
    ) async throws -> LAPersistedRight {
        let context = Carried(value: LAContext())
        let right = Carried(value: right)
        return try await detached { Carried(value: try Self.save(right.value, identifier, secret, context.value)) }
            .value
    }

    /// Removes a right, its key and its secret; asks nobody.
    @preconcurrency
    public func removeRight(_ right: LAPersistedRight, completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        removeRight(forIdentifier: right.record.identifier, completion: handler)
    }

    /// Removes a right, its key and its secret; asks nobody.
    nonisolated(nonsending) public func removeRight(_ right: LAPersistedRight) async throws {
        try await removeRight(forIdentifier: right.record.identifier)
    }

    /// Removes the right of that identifier, its key and its secret; asks nobody.
    @preconcurrency
    public func removeRight(
        forIdentifier identifier: String, completion handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let context = Carried(value: LAContext())
        detachedCall(handler) { try RightRecord.remove(identifier, context.value) }
    }

    /// Removes the right of that identifier, its key and its secret; asks nobody.
    nonisolated(nonsending) public func removeRight(forIdentifier identifier: String) async throws {
        let context = Carried(value: LAContext())
        try await detached { try RightRecord.remove(identifier, context.value) }
    }

    /// Removes every right of this app.
    @preconcurrency
    public func removeAllRights(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        let context = Carried(value: LAContext())
        detachedCall(handler) { try Self.removeAll(context.value) }
    }

    /// Removes every right of this app.
    nonisolated(nonsending) public func removeAllRights() async throws {
        let context = Carried(value: LAContext())
        try await detached { try Self.removeAll(context.value) }
    }

    // MARK: - Work that blocks

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
