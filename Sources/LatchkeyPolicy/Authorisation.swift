// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// What was proven, by which evaluations and for whom: the value that opens items.
///
/// Only this room makes one, from an event of an evaluation; every door of the keychain takes it as a parameter. Outside
/// the room the only values there are come from the reducer, and from joining or narrowing those.
package struct Authorisation: Hashable, Sendable {
    /// One proof of one evaluation.
    package struct Proof: Hashable, Sendable {
        /// Number of the evaluation.
        package let evaluation: UInt64
        /// Who asked for it, hence whom the prompt named.
        package let caller: Caller
        package let method: AuthenticationMethod
        /// The enrolment set the match came from, when biometry was proven.
        package let enrolment: EnrolmentSet?
        /// When, in nanoseconds of the boot clock.
        package let time: Int64
    }

    /// The proofs, the oldest first.
    package let proofs: [Proof]

    init(_ proofs: [Proof]) { self.proofs = proofs }

    /// Nothing was proven.
    package static let none = Authorisation([])

    /// The methods that were proven.
    package var methods: Set<AuthenticationMethod> { Set(proofs.map(\.method)) }

    /// The enrolment set of the last match.
    package var enrolment: EnrolmentSet? { proofs.last { $0.method == .biometry }?.enrolment }

    /// Whether every stage of `plan` is met.
    package func satisfies(_ plan: AuthenticationPlan) -> Bool {
        plan.stages.allSatisfy { !$0.isDisjoint(with: methods) }
    }

    /// Whether everything in it was proven for that caller; nothing is for every caller.
    package func belongs(to caller: Caller) -> Bool { proofs.allSatisfy { $0.caller == caller } }

    /// Whether one evaluation proved all of it, the passcode among it.
    package var isOnePasscodeEvaluation: Bool {
        methods.contains(.passcode) && Set(proofs.map(\.evaluation)).count == 1
    }

    /// What both proved together. Of two proofs of the same kind for the same caller the later one stays.
    package func union(_ other: Authorisation) -> Authorisation {
        let kept = proofs.filter { proof in
            !other.proofs.contains {
                $0.method == proof.method && $0.enrolment == proof.enrolment && $0.caller == proof.caller
            }
        }
        return Authorisation(kept + other.proofs)
    }

    /// The same without matches of another enrolment set than `set` (abuse case 32).
    package func holding(for set: EnrolmentSet?) -> Authorisation {
        Authorisation(proofs.filter { $0.method != .biometry || (set != nil && $0.enrolment == set) })
    }
}
