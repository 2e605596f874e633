// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A right that was saved, with the key and the secret that it guards. Apple: `LAPersistedRight`.
///
/// Made by `LARightStore` only.
public final class LAPersistedRight: LARight {
    let record: RightRecord

    init?(_ record: RightRecord) {
        guard let requirement = LAAuthenticationRequirement(kept: record.rule, set: record.set) else { return nil }
        self.record = record
        super.init(requirement: requirement)
        tag = record.tag
    }

    /// The private key, in the Secure Enclave; works while the right is authorized.
    public var key: LAPrivateKey { LAPrivateKey(self) }

    /// The secret that was saved with the right; read while the right is authorized.
    public var secret: LASecret { LASecret(self) }

    /// Throws while the right is not authorized (behaviour RI-05).
    func context() throws -> LAContext {
        guard let context = authorizedContext else {
            throw LAError(
                .authenticationFailed,
                userInfo: [NSLocalizedDescriptionKey: "The right is not authorized: call authorize first."])
        }
        return context
    }
}

/// The secret of a right. Apple: `LASecret`.
public final class LASecret: NSObject, Sendable {
    private let right: Carried<LAPersistedRight>

    init(_ right: LAPersistedRight) { self.right = Carried(value: right) }

    /// Calls `handler` once, never on the main thread, with the bytes that were saved, or with an error: an `LAError`
    /// while the right is not authorized, `errSecItemNotFound` of `NSOSStatusErrorDomain` when none were saved.
    @preconcurrency
    public func loadData(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        detached(handler) { [right] in try right.value.record.secret(try right.value.context()) }
    }

    /// The bytes that were saved; throws as `loadData` does.
    public var rawData: Data {
        get async throws { try await detached { [right] in try right.value.record.secret(try right.value.context()) } }
    }
}
