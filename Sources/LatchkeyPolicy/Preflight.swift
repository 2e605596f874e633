// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension PolicyState {
    /// Why biometry cannot be used, in the order of behaviours LA-02 and LA-03; nil when it can.
    package var biometryRefusal: Status? {
        if sensor.kind == .none { return .biometryNotAvailable }
        if !isPasscodeSet { return .passcodeNotSet }
        if sensor.enrolment == nil { return .biometryNotEnrolled }
        // A passcode ends both, so both are the same to an app.
        if isBiometryLocked || isPasscodeDue { return .biometryLockout }
        return nil
    }

    /// The same for an app, which may look at faces only when it says why and the person agrees (behaviour LA-07).
    package func biometryRefusal(for faceUser: String?) -> Status? {
        guard sensor.kind == .faceID else { return biometryRefusal }
        guard let faceUser, facePermissions[faceUser] != false else { return .biometryNotAvailable }
        return biometryRefusal
    }

    /// Whether the person has to be asked before the sensor may watch for that app.
    func needsPermission(_ faceUser: String?) -> Bool {
        sensor.kind == .faceID && faceUser.flatMap { facePermissions[$0] } != true
    }

    /// Why the plan cannot be met, or nil: what `canEvaluatePolicy` tells.
    package func refusal(of plan: AuthenticationPlan, for faceUser: String?) -> Status? {
        for stage in plan.stages {
            if let refusal = refusal(of: stage, for: faceUser) { return refusal }
        }
        return nil
    }

    /// Whether a paired device may confirm what is asked now.
    func offersCompanion(_ evaluation: ActiveEvaluation) -> Bool {
        evaluation.accepted.contains(.companion) && companions.isReachable
    }

    func refusal(of stage: Set<AuthenticationMethod>, for faceUser: String?) -> Status? {
        if stage.contains(.passcode) { return isPasscodeSet ? nil : .passcodeNotSet }
        if stage.contains(.companion), companions.isReachable { return nil }
        // Behaviour LA-05: of biometry and a companion, the side that exists says what is missing.
        if stage.contains(.biometry), sensor.kind != .none || !stage.contains(.companion) {
            return biometryRefusal(for: faceUser)
        }
        return .companionNotAvailable
    }

    /// What to ask for first in a stage that can be met.
    func firstMethod(of stage: Set<AuthenticationMethod>, for faceUser: String?) -> AuthenticationMethod {
        if stage.contains(.biometry), biometryRefusal(for: faceUser) == nil { return .biometry }
        // A device that is away answers nothing where the passcode would do.
        if stage.contains(.companion), companions.isReachable { return .companion }
        return stage.contains(.passcode) ? .passcode : .companion
    }
}
