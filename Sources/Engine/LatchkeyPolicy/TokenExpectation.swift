// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// What the service expects of the token that answers one of its authentication requests.
package struct TokenExpectation: Sendable {
    package var connection: [UInt8]
    package var challenge: [UInt8]
    package var userID: UInt32
    package var purpose: PromptPurpose
    package var binding: [UInt8]
    package var plan: AuthenticationPlan
    package var caller: Caller
    /// The number of the evaluation.
    package var evaluation: UInt64
    /// Whether proofs by simulated sensors and other virtual hardware are accepted.
    package var acceptsVirtual: Bool
    /// Whether a match by a weak sensor is accepted: for a policy, which releases nothing.
    package var acceptsWeak: Bool

    package init(
        connection: [UInt8], challenge: [UInt8], userID: UInt32, purpose: PromptPurpose, binding: [UInt8],
        plan: AuthenticationPlan, caller: Caller, evaluation: UInt64, acceptsVirtual: Bool,
        acceptsWeak: Bool = false
    ) {
        self.connection = connection
        self.challenge = challenge
        self.userID = userID
        self.purpose = purpose
        self.binding = binding
        self.plan = plan
        self.caller = caller
        self.evaluation = evaluation
        self.acceptsVirtual = acceptsVirtual
        self.acceptsWeak = acceptsWeak
    }
}

/// The first rule that a token breaks.
package enum TokenFlaw: String, Error, CaseIterable, Sendable {
    case malformed, wrongCode, otherConnection, otherChallenge, otherUser, otherPurpose, otherBinding, otherBoot
    case notYetValid, expired, planNotCompleted, biometryWithoutSet, weak, livesTooLong, virtualHardware
}

extension Authorisation {
    /// Creates the authorisation that a token proves, after checking the token against the request that it answers.
    ///
    /// The caller of this function must accept each challenge once.
    ///
    /// - Parameters:
    ///   - code: the authentication code of `token.authenticated` under the key of the connection.
    ///   - now: nanoseconds of the boot-time clock.
    ///   - bootID: the boot identifier of the machine.
    package init(
        _ token: AuthToken, answering expected: TokenExpectation, code: [UInt8], now: Int64, bootID: [UInt8]
    ) throws(TokenFlaw) {
        guard token.isWellFormed else { throw .malformed }
        // `SecretBytes` compares in constant time.
        guard code.count == AuthToken.digestBytes, SecretBytes(token.code) == SecretBytes(code) else {
            throw .wrongCode
        }
        guard token.connection == expected.connection else { throw .otherConnection }
        guard token.challenge == expected.challenge else { throw .otherChallenge }
        guard token.userID == expected.userID else { throw .otherUser }
        guard token.purpose == expected.purpose else { throw .otherPurpose }
        guard token.binding == expected.binding else { throw .otherBinding }
        guard !bootID.isEmpty, token.bootID == bootID else { throw .otherBoot }
        guard token.issued <= now else { throw .notYetValid }
        guard now <= token.expires else { throw .expired }
        let (lifetime, isTooLong) = token.expires.subtractingReportingOverflow(token.issued)
        guard !isTooLong, lifetime <= AuthToken.lifetimeSeconds * 1_000_000_000 else { throw .livesTooLong }
        guard expected.plan.stages.allSatisfy({ !$0.isDisjoint(with: token.methods) }) else { throw .planNotCompleted }
        guard !token.methods.contains(.biometry) || token.enrolment != nil else { throw .biometryWithoutSet }
        // The strength is that of the weakest method; only biometry can be weak.
        let isWeak = token.strength == .weak && token.methods.contains(.biometry)
        guard token.methods.isEmpty || token.strength == .strong || isWeak && expected.acceptsWeak else { throw .weak }
        guard !token.isVirtual || expected.acceptsVirtual else { throw .virtualHardware }
        let methods = token.methods.sorted { $0.rawValue < $1.rawValue }
        self.init(
            methods.map { method in
                Proof(
                    evaluation: expected.evaluation, caller: expected.caller, method: method,
                    enrolment: method == .biometry ? token.enrolment : nil, time: token.issued,
                    token: token.challenge, isWeak: isWeak && method == .biometry, isVirtual: token.isVirtual)
            })
    }
}
