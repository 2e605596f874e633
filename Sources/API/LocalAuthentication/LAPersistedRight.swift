// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A saved right, with a key and an optional secret that it protects. Apple: `LAPersistedRight`.
///
/// Only `LARightStore` creates saved rights.
public final class LAPersistedRight: LARight {
    let record: RightRecord

    init?(_ record: RightRecord) {
        guard let requirement = LAAuthenticationRequirement(stored: record.flags, set: record.set) else { return nil }
        self.record = record
        super.init(requirement: requirement)
        tag = record.tag
    }

    /// The private key in the Secure Enclave; usable while the right is authorized. Apple: `LAPersistedRight.key`.
    public var key: LAPrivateKey { LAPrivateKey(self) }

    /// The secret that was saved with the right; readable while the right is authorized. Apple:
    /// `LAPersistedRight.secret`.
    public var secret: LASecret { LASecret(self) }

    /// The context that authorized the right; throws while the right is not authorized (behaviour RI-05).
    func context() throws -> LAContext {
        guard let context = authorizedContext else {
            throw LAError(
                .authenticationFailed,
                userInfo: [NSLocalizedDescriptionKey: "The right is not authorized: call authorize first."])
        }
        return context
    }
}

/// The secret of a saved right. Apple: `LASecret`.
public final class LASecret: NSObject, Sendable {
    private let right: Carried<LAPersistedRight>

    init(_ right: LAPersistedRight) { self.right = Carried(value: right) }

    /// Reads the secret and calls `handler` once with the result. Apple: `LASecret.loadData(completion:)`.
    ///
    /// Does not block and never prompts. `handler` runs on a thread of its own, never on the main thread.
    ///
    /// - Parameter handler: called with the bytes that were saved and nil, or with nil and an error:
    ///   `LAError.authenticationFailed` while the right is not authorized, or an error of `NSOSStatusErrorDomain`,
    ///   which is `errSecItemNotFound` when the right was saved without a secret.
    @preconcurrency
    public func loadData(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        detached(handler) { [right] in try right.value.record.secret(try right.value.context()) }
    }

    /// The bytes that were saved with the right. Apple: `LASecret.rawData`.
    ///
    /// Suspends without blocking a thread of the pool; never prompts. Throws `LAError.authenticationFailed` while the
    /// right is not authorized, and `errSecItemNotFound` of `NSOSStatusErrorDomain` when the right was saved without
    /// a secret.
    public var rawData: Data {
        get async throws { try await detached { [right] in try right.value.record.secret(try right.value.context()) } }
    }
}
