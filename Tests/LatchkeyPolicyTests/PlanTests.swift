// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Plans with several stages, and the plans of access controls.
@Suite struct PlanTests {
    static let rules: [(AccessConstraints, AuthenticationPlan)] = [
        (.userPresence, .either), (.biometryAny, .biometry),
        (.biometryCurrentSet, .biometry), (.devicePasscode, .passcode), ([], .nothing),
        ([.biometryAny, .or, .devicePasscode], .either), ([.biometryCurrentSet, .or, .devicePasscode], .either),
        ([.biometryAny, .and, .devicePasscode], .biometryThenPasscode),
        ([.biometryCurrentSet, .devicePasscode], .biometryThenPasscode),
        ([.userPresence, .applicationPassword], .either),
        ([.biometryAny, .or, .companion], .biometry),
        ([.biometryAny, .privateKeyUsage], .biometry),
    ]

    @Test(arguments: rules) func planOfAnAccessControlFollowsItsConstraints_AC02(
        _ constraints: AccessConstraints, _ plan: AuthenticationPlan
    ) {
        let control = AccessControl(constraints: constraints)
        #expect(control.isValid)
        #expect(control.plan == plan)
        #expect(control.isProtected == (plan != .nothing))
    }

    /// Attack: an item whose access control requires an unavailable method is opened with the remaining methods.
    @Test(arguments: [AccessConstraints.companion, [.companion, .or], [.biometryAny, .companion]])
    func unavailableConstraintIsNeverDropped(_ constraints: AccessConstraints) {
        let control = AccessControl(constraints: constraints)
        #expect(control.isProtected)
        #expect(!Authorisation.both.satisfies(control.plan))
        var world = World(.touch)
        #expect(world.ask(control.plan) == [.reply(1, .failure(.companionNotAvailable))])
    }

    @Test func userPresenceAcceptsEitherMethod_AC02() {
        var finger = World(.touch)
        finger.show(AccessControl(constraints: .userPresence).plan)
        #expect(finger.send(.matched(1, .a)).outcomes() == [.granted(.finger)])

        var code = World(.touchEmpty)
        code.show(AccessControl(constraints: .userPresence).plan)
        #expect(code.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func andRequiresBothStages_AC02() {
        var world = World(.touch)
        world.show(.biometryThenPasscode)
        let first = world.send(.matched(1, .a))
        #expect(first.first == .disarm(1))
        #expect(first.content == PromptContent(method: .passcode, notice: .none, triesLeft: 3, showsFallback: false))
        #expect(first.outcomes().isEmpty)
        #expect(world.type(right: true).outcomes() == [.granted(.both)])
    }

    @Test func theSecondStageArmsTheSensor_AC02() {
        var world = World(.touch)
        #expect(!world.show(.passcodeThenBiometry).contains(.arm(1)))
        let first = world.type(right: true)
        #expect(first.last == .arm(1))
        #expect(first.content?.method == .biometry)
        #expect(first.content?.triesLeft == 3)
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.both)])
    }

    @Test func eachStageHasItsOwnTries_AC02() {
        var world = World(.touch)
        world.show(.passcodeThenBiometry)
        world.type(right: false)
        let second = world.type(right: true).content
        #expect(second == PromptContent(method: .biometry, notice: .none, triesLeft: 3, showsFallback: false))
    }

    @Test func failedSecondStageDeniesTheEvaluation_AC02() {
        var world = World(.touch)
        world.show(.biometryThenPasscode)
        world.send(.matched(1, .a))
        for _ in 0..<2 { #expect(world.type(right: false).outcomes().isEmpty) }
        #expect(world.type(right: false).outcomes() == [.denied(.authenticationFailed)])

        var other = World(.touch)
        other.show(.passcodeThenBiometry)
        other.type(right: true)
        #expect(other.miss(3).outcomes() == [.denied(.authenticationFailed)])
    }

    @Test func stageThatBecameImpossibleDeniesTheEvaluation() {
        var world = World(.touch)
        world.show(.passcodeThenBiometry)
        world.send(.sensorChanged(.touchEmpty))
        #expect(world.type(right: true).outcomes() == [.denied(.biometryNotEnrolled)])
    }

    @Test func completedStageIsSkipped() {
        var world = World(.touch)
        world.show(AuthenticationPlan([[.passcode], [.biometry, .passcode]]))
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func requiringPasscodePutsThePasscodeFirst() {
        #expect(AuthenticationPlan.nothing.requiringPasscode() == .passcode)
        #expect(AuthenticationPlan.biometry.requiringPasscode() == .passcodeThenBiometry)
        #expect(AuthenticationPlan.either.requiringPasscode() == .passcode)
        #expect(AuthenticationPlan.passcode.requiringPasscode() == .passcode)
        #expect(AuthenticationPlan.biometryThenPasscode.requiringPasscode() == .biometryThenPasscode)
        for plan in AuthenticationPlan.all {
            #expect(!Authorisation.finger.satisfies(plan.requiringPasscode()))
            #expect(Authorisation.both.satisfies(plan.requiringPasscode()))
        }
    }

    @Test func authorisationMustSatisfyEveryStageOfAPlan() {
        #expect(Authorisation.none.satisfies(.nothing))
        for plan in AuthenticationPlan.all.dropFirst() { #expect(!Authorisation.none.satisfies(plan)) }
        #expect(Authorisation.finger.satisfies(.biometry))
        #expect(Authorisation.finger.satisfies(.either))
        #expect(!Authorisation.finger.satisfies(.passcode))
        #expect(!Authorisation.finger.satisfies(.biometryThenPasscode))
        #expect(!Authorisation.code.satisfies(.biometry))
        #expect(Authorisation.both.satisfies(.passcodeThenBiometry))
        #expect(!Authorisation.both.satisfies(AuthenticationPlan([[]])))
    }
}
