// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The proofs of one or more evaluations; the value that authorises access to items.
///
/// A forgotten check must not compile, so every function that opens an item or uses a key takes an authorisation as a
/// parameter. Only this module creates one, from the events of an evaluation or from a token that the expectation
/// accepts. Other modules can combine or narrow existing ones.
///
/// A proof names its method, caller, enrolment set and evaluation. It says what the user has proven and not what that
/// permits: `satisfies` compares it with a plan, and `holding(for:)` drops the proofs of an earlier enrolment set.
package struct Authorisation: Hashable, Sendable {
    /// One successful authentication by one method, within one evaluation.
    package struct Proof: Hashable, Sendable {
        package let evaluation: UInt64
        /// The caller that requested the evaluation, and that the prompt named.
        package let caller: Caller
        package let method: AuthenticationMethod
        /// The enrolment set of the match; nil for methods other than biometry.
        package let enrolment: EnrolmentSet?
        /// The time of the proof, in nanoseconds of the boot-time clock.
        package let time: Int64
        /// The challenge of the token that proves it, by which the authority knows it again; empty within the authority.
        package let token: [UInt8]
        /// Whether a weak sensor matched, so that the proof answers a policy only.
        package let isWeak: Bool
        /// Whether virtual hardware took part, such as a sensor that is a program.
        package let isVirtual: Bool
    }

    /// The proofs, oldest first.
    package let proofs: [Proof]

    init(_ proofs: [Proof]) { self.proofs = proofs }

    /// An authorisation without proofs.
    package static let none = Authorisation([])

    package var isEmpty: Bool { proofs.isEmpty }

    package var methods: Set<AuthenticationMethod> { Set(proofs.map(\.method)) }

    /// The challenges of the tokens that prove it, each once.
    package var tokens: [[UInt8]] {
        proofs.reduce(into: []) { tokens, proof in
            if !proof.token.isEmpty, !tokens.contains(proof.token) { tokens.append(proof.token) }
        }
    }

    /// The enrolment set of the latest proof by biometry; nil if there is none.
    package var enrolment: EnrolmentSet? { proofs.last { $0.method == .biometry }?.enrolment }

    /// Returns whether the proofs complete every stage of `plan`.
    ///
    /// - Parameter acceptsWeak: whether the plan is that of a policy, for which a match by a weak sensor counts.
    package func satisfies(_ plan: AuthenticationPlan, acceptsWeak: Bool = false) -> Bool {
        let methods = Set(proofs.filter { acceptsWeak || !$0.isWeak }.map(\.method))
        return plan.stages.allSatisfy { !$0.isDisjoint(with: methods) }
    }

    /// The methods that complete the stages of `plan`: for each stage that of its newest proof.
    package func methods(completing plan: AuthenticationPlan) -> Set<AuthenticationMethod> {
        Set(plan.stages.compactMap { stage in proofs.last { !$0.isWeak && stage.contains($0.method) }?.method })
    }

    package var isWeak: Bool { proofs.contains(where: \.isWeak) }

    /// Whether virtual hardware took part in a proof.
    package var isVirtual: Bool { proofs.contains(where: \.isVirtual) }

    /// Returns whether all proofs are for `caller`; true for an authorisation without proofs.
    package func belongs(to caller: Caller) -> Bool { proofs.allSatisfy { $0.caller == caller } }

    /// Whether all proofs come from a single evaluation and include the passcode.
    package var isOnePasscodeEvaluation: Bool {
        methods.contains(.passcode) && Set(proofs.map(\.evaluation)).count == 1
    }

    /// Returns the proofs of both. A proof of `other` replaces a proof with the same method, strength, enrolment set and
    /// caller, by hardware that is virtual too or is not either.
    package func union(_ other: Authorisation) -> Authorisation {
        let own = proofs.filter { proof in
            !other.proofs.contains {
                $0.method == proof.method && $0.isWeak == proof.isWeak && $0.isVirtual == proof.isVirtual
                    && $0.enrolment == proof.enrolment && $0.caller == proof.caller
            }
        }
        return Authorisation(own + other.proofs)
    }

    /// Returns the authorisation without proofs by biometry of an enrolment set other than `set` (abuse case 32).
    package func holding(for set: EnrolmentSet?) -> Authorisation {
        Authorisation(proofs.filter { $0.method != .biometry || (set != nil && $0.enrolment == set) })
    }
}
