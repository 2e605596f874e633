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
    public func right(
        forIdentifier identifier: String, completion handler: @escaping (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = LAContext()
        detached(handler) { try Self.right(identifier, context) }
    }

    /// The right of that identifier.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        let context = LAContext()
        return try await detached { try Self.right(identifier, context) }
    }

    /// Saves a right, with a new key.
    public func saveRight(
        _ right: LARight, identifier: String, completion handler: @escaping (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = LAContext()
        detached(handler) { try Self.save(right, identifier, nil, context) }
    }

    /// Saves a right, with a new key.
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        let context = LAContext()
        return try await detached { try Self.save(right, identifier, nil, context) }
    }

    /// Saves a right, with a new key and a secret of at most 1 MiB.
    public func saveRight(
        _ right: LARight, identifier: String, secret: Data,
        completion handler: @escaping (LAPersistedRight?, (any Error)?) -> Void
    ) {
        let context = LAContext()
        detached(handler) { try Self.save(right, identifier, secret, context) }
    }

    /// Saves a right, with a new key and a secret of at most 1 MiB.
    public func saveRight(_ right: LARight, identifier: String, secret: Data) async throws -> LAPersistedRight {
        let context = LAContext()
        return try await detached { try Self.save(right, identifier, secret, context) }
    }

    /// Removes a right, its key and its secret; asks nobody.
    public func removeRight(_ right: LAPersistedRight, completion handler: @escaping ((any Error)?) -> Void) {
        removeRight(forIdentifier: right.record.identifier, completion: handler)
    }

    /// Removes a right, its key and its secret; asks nobody.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await removeRight(forIdentifier: right.record.identifier)
    }

    /// Removes the right of that identifier, its key and its secret; asks nobody.
    public func removeRight(forIdentifier identifier: String, completion handler: @escaping ((any Error)?) -> Void) {
        let context = LAContext()
        detachedCall(handler) { try RightRecord.remove(identifier, context) }
    }

    /// Removes the right of that identifier, its key and its secret; asks nobody.
    public func removeRight(forIdentifier identifier: String) async throws {
        let context = LAContext()
        try await detached { try RightRecord.remove(identifier, context) }
    }

    /// Removes every right of this app.
    public func removeAllRights(completion handler: @escaping ((any Error)?) -> Void) {
        let context = LAContext()
        detachedCall(handler) { try Self.removeAll(context) }
    }

    /// Removes every right of this app.
    public func removeAllRights() async throws {
        let context = LAContext()
        try await detached { try Self.removeAll(context) }
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
