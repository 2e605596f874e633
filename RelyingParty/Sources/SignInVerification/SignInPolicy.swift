// SPDX-License-Identifier: Apache-2.0

/// What a server demands of proofs and passkeys. User presence and user verification are always demanded.
public struct SignInPolicy: Sendable {
    /// The name of the relying party. Bound proofs sign it as it is. For passkeys it is the domain that pages give to the browser
    /// as `rp.id` and `rpId` (WebAuthn Level 3, section 5.1.2), in lower case.
    public var relyingPartyID: String
    /// The origins of the pages that may use passkeys, as browsers write them, such as `https://example.com`.
    public var origins: Set<String>
    /// The algorithms of passkeys that may be registered. Those of registered keys are not compared with these.
    public var algorithms: Set<SignatureAlgorithm>
    /// What a counter that is not higher than the one before means.
    public var counters: CounterPolicy

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - relyingPartyID: the name of the relying party, 1 to 253 bytes.
    ///   - origins: the origins of the pages that may use passkeys; nil for `https://` and the name of the relying party.
    ///   - algorithms: the algorithms of passkeys that may be registered.
    ///   - counters: what a counter that is not higher than the one before means.
    public init(
        relyingPartyID: String, origins: Set<String>? = nil,
        algorithms: Set<SignatureAlgorithm> = Set(SignatureAlgorithm.allCases), counters: CounterPolicy = .tolerant
    ) {
        self.relyingPartyID = relyingPartyID
        self.origins = origins ?? ["https://" + relyingPartyID]
        self.algorithms = algorithms
        self.counters = counters
    }
}

/// What a counter that is not higher than the one before means: the key was copied, or requests arrived in another order
/// than the one in which they were signed (WebAuthn Level 3, section 6.1.1).
public enum CounterPolicy: String, CaseIterable, Sendable {
    /// A counter that is 1 to 16 lower is a request that arrived late: it is refused, and the key stays usable. An equal one,
    /// which a key never signs twice, and a step back of more than 16 freeze the key.
    case tolerant
    /// Every counter that is not higher freezes the key.
    case strict

    /// The largest step back that is a late request.
    public static let lateSteps: Int64 = 16

    /// What a server does with a request whose signature is valid.
    public enum Decision: Equatable, Sendable {
        /// Store the counter, and accept the request.
        case accept
        /// Refuse the request.
        case refuse
        /// Refuse the request, and refuse the key until an operator has decided that there is no copy of it. Commit this, and the
        /// nonce of the challenge, although the request is refused.
        case freeze
    }

    /// Decides about the counter of an assertion. The caller reads the passkey, decides and stores the new counter in one
    /// transaction. An authenticator that always reports 0 does not count.
    public func decision(for assertion: VerifiedAssertion, of passkey: Passkey) -> Decision {
        assertion.counter == 0 && passkey.counter == 0
            ? .accept : decision(for: assertion.counter, after: passkey.counter == 0 ? nil : passkey.counter)
    }

    /// Decides about a counter of a bound proof. The caller reads the stored one, decides and stores the new one in one transaction.
    ///
    /// - Parameters:
    ///   - counter: the counter of the request, 0 to 2^53 - 1.
    ///   - stored: the highest one that was accepted; nil if the key has not counted yet.
    /// - Returns: what to do.
    public func decision(for counter: Int64, after stored: Int64?) -> Decision {
        guard let stored, counter <= stored else { return .accept }
        let step = stored.subtractingReportingOverflow(counter).partialValue
        return self == .tolerant && (1...Self.lateSteps).contains(step) ? .refuse : .freeze
    }
}
