// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension PolicyState {
    /// Why biometry cannot be used, checked in the order of behaviours LA-02 and LA-03; nil if it can.
    package var biometryRefusal: Status? {
        if sensor.kind == .none { return .biometryNotAvailable }
        if !isPasscodeSet { return .passcodeNotSet }
        if sensor.enrolment == nil { return .biometryNotEnrolled }
        // A correct passcode ends both conditions, so apps see the same status for both.
        if isBiometryLocked || isPasscodeDue { return .biometryLockout }
        return nil
    }

    /// Why an app cannot use biometry; nil if it can. Face ID also requires a face usage description, and that the
    /// user did not refuse it (behaviour LA-07).
    package func biometryRefusal(for faceUser: String?) -> Status? {
        guard sensor.kind == .faceID else { return biometryRefusal }
        guard let faceUser, facePermissions[faceUser] != false else { return .biometryNotAvailable }
        return biometryRefusal
    }

    /// Returns whether the user must allow the app the use of Face ID before the camera is used.
    func needsPermission(_ faceUser: String?) -> Bool {
        sensor.kind == .faceID && faceUser.flatMap { facePermissions[$0] } != true
    }

    /// Returns why the plan cannot be completed, as `canEvaluatePolicy` reports it; nil if it can.
    package func refusal(of plan: AuthenticationPlan, for faceUser: String?) -> Status? {
        for stage in plan.stages {
            if let refusal = refusal(of: stage, for: faceUser) { return refusal }
        }
        return nil
    }

    /// Returns whether a paired device can complete the current stage.
    func offersCompanion(_ evaluation: ActiveEvaluation) -> Bool {
        evaluation.accepted.contains(.companion) && companions.isReachable
    }

    /// Returns why a stage cannot be completed; nil if it can.
    func refusal(of stage: Set<AuthenticationMethod>, for faceUser: String?) -> Status? {
        if stage.contains(.passcode) { return isPasscodeSet ? nil : .passcodeNotSet }
        if stage.contains(.companion), companions.isReachable { return nil }
        // Behaviour LA-05: for biometry or companion, the status is that of biometry if there is a sensor, and that of
        // the companion otherwise.
        if stage.contains(.biometry), sensor.kind != .none || !stage.contains(.companion) {
            return biometryRefusal(for: faceUser)
        }
        return .companionNotAvailable
    }

    /// Returns the method with which a stage begins, provided that the stage can be completed.
    func firstMethod(of stage: Set<AuthenticationMethod>, for faceUser: String?) -> AuthenticationMethod {
        if stage.contains(.biometry), biometryRefusal(for: faceUser) == nil { return .biometry }
        // A companion out of reach is not asked; the passcode is used if the stage accepts it.
        if stage.contains(.companion), companions.isReachable { return .companion }
        return stage.contains(.passcode) ? .passcode : .companion
    }
}
