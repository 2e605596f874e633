// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy

extension Authorisation {
    /// The authorisation that the reducer grants for these proofs, in a prompt of this caller. Tests, like the
    /// daemon, can only obtain an authorisation from the reducer.
    ///
    /// - Parameter set: the enrolment set of a biometric match.
    package static func testOnly(
        _ methods: [AuthenticationMethod], enrolment set: EnrolmentSet = EnrolmentSet([1]), by caller: Caller,
        evaluation: UInt64 = 1, at time: Int64 = 0
    ) -> Authorisation {
        var state = PolicyState(
            AuthorityState(sensor: SensorState(kind: .touchID, enrolment: set), isPasscodeSet: true))
        let request = EvaluationRequest(
            id: evaluation, plan: AuthenticationPlan(methods.map { [$0] }), allowsFallback: false,
            interactionAllowed: true, caller: caller)
        var effects = state.reduce(.evaluate(request), at: time) + state.reduce(.promptVisible(evaluation), at: time)
        for method in methods {
            switch method {
            case .biometry: effects += state.reduce(.matched(evaluation, set, isVirtual: false), at: time)
            case .passcode:
                effects += state.reduce(.passcodeEntered(evaluation, at: time), at: time)
                effects += state.reduce(.countersStored(evaluation), at: time)
                effects += state.reduce(.passcodeChecked(evaluation, isRight: true), at: time)
            }
        }
        let granted: [Authorisation] = effects.compactMap {
            if case .reply(_, .success(let authorisation)) = $0 { authorisation } else { nil }
        }
        precondition(granted.count == 1, "the reducer grants exactly one authorisation")
        return granted[0]
    }
}
