// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Face permissions: Face ID is used only for an app that has a face usage description and that the user allowed
/// (behaviour LA-07).
@Suite struct PermissionTests {
    @Test func appWithoutAUsageDescriptionMayNotUseFaceID_LA07() {
        var world = World(.face)
        #expect(world.ask(.biometry, faceUser: nil).outcomes() == [.denied(.biometryNotAvailable)])
        #expect(world.ask(.either, faceUser: nil).content?.method == .passcode)
    }

    @Test func touchIDNeedsNoPermission_LA07() {
        var world = World(.touch, permission: nil)
        world.ask(.biometry, faceUser: nil)
        #expect(world.send(.promptVisible(1)) == [.arm(1)])
    }

    @Test func firstEvaluationAsksBeforeTheCameraIsUsed_LA07() {
        var world = World(.face, permission: nil)
        #expect(world.state.refusal(of: .biometry, for: "a") == nil)
        let effects = world.show(.biometry)
        #expect(effects.content?.question == .permission)
        #expect(!effects.contains(.arm(1)))
        #expect(world.send(.matched(1, .a)).isEmpty)
        #expect(world.send(.notMatched(1)).isEmpty)
    }

    @Test func allowingStartsTheCameraAndIsStored_LA07() {
        var world = World(.face, permission: nil)
        world.show(.biometry)
        let effects = world.send(.permissionAnswered(1, true))
        #expect(effects.first == .persistPermissions(["a": true]))
        #expect(effects.last == .arm(1))
        #expect(effects.content?.question == PromptContent.Question.none)
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
        #expect(world.show(.biometry, id: 2).content?.question == PromptContent.Question.none)
    }

    @Test(arguments: [AuthenticationPlan.biometry, .biometryThenPasscode])
    func denyingEndsABiometricEvaluation_LA07(_ plan: AuthenticationPlan) {
        var world = World(.face, permission: nil)
        world.show(plan)
        let effects = world.send(.permissionAnswered(1, false))
        #expect(effects.first == .persistPermissions(["a": false]))
        #expect(effects.outcomes() == [.denied(.biometryNotAvailable)])
        #expect(world.ask(plan, id: 2).outcomes(2) == [.denied(.biometryNotAvailable)])
    }

    @Test func denyingContinuesWithThePasscodeIfTheStageAcceptsIt_LA07() {
        var world = World(.face, permission: nil)
        world.show(.either)
        #expect(world.send(.permissionAnswered(1, false)).content?.method == .passcode)
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func cancellingThePermissionQuestionStoresNoDecision_LA07() {
        var world = World(.face, permission: nil)
        world.show(.biometry)
        #expect(world.send(.cancelChosen(1)).outcomes() == [.denied(.userCancel)])
        #expect(world.state.facePermissions.isEmpty)
    }

    @Test func withdrawingThePermissionEndsAFaceScan_LA07() {
        var world = World(.face)
        world.show(.biometry)
        let effects = world.send(.permissionChanged("a", false))
        #expect(effects.outcomes() == [.denied(.biometryNotAvailable)])
        #expect(effects.contains(.disarm(1)))
    }

    @Test func withdrawingOneAppsPermissionDoesNotEndAnothersFaceScan_LA07() {
        var world = World(.face)
        world.state.facePermissions["b"] = true
        world.show(.biometry)
        #expect(world.send(.permissionChanged("b", false)) == [.persistPermissions(["a": true, "b": false])])
        #expect(world.send(.matched(1, .a)).outcomes() == [.granted(.finger)])
    }

    @Test func withdrawingThePermissionDoesNotEndAPasscodePrompt_LA07() {
        var world = World(.face, biometryFailures: 5)
        world.show(.either)
        #expect(world.send(.permissionChanged("a", false)) == [.persistPermissions(["a": false])])
        #expect(world.type(right: true).outcomes() == [.granted(.code)])
    }

    @Test func permissionAnswerWithoutAVisibleQuestionIsIgnored() {
        var world = World(.face, permission: nil)
        world.ask(.biometry)
        #expect(world.send(.permissionAnswered(1, true)).isEmpty, "the question is not visible yet")
        world.send(.promptVisible(1))
        #expect(world.send(.permissionAnswered(2, true)).isEmpty)
        #expect(world.state.facePermissions.isEmpty)
    }

    @Test func permissionIsRequestedInALaterStageToo() {
        var world = World(.face, permission: nil)
        world.show(.passcodeThenBiometry)
        #expect(world.type(right: true).content?.question == .permission)
        #expect(world.send(.permissionAnswered(1, true)).last == .arm(1))
    }

    @Test func unlockIsNotReusedBeforeThePermissionIsDecided_LA33() {
        var world = World(.face, permission: nil)
        world.send([.locked, .unlocked(byBiometry: true)])
        let request = EvaluationRequest(
            id: 1, plan: .biometry, allowsFallback: true, interactionAllowed: true, reuseSeconds: 60, faceUser: "a")
        #expect(world.send(.evaluate(request)).shown == [1])
    }
}
