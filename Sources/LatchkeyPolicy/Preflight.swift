// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension PolicyState {
    /// Why biometry cannot be used, in the order of behaviours LA-02 and LA-03; nil when it can.
    package var biometryRefusal: Status? {
        if sensor.kind == .none { return .biometryNotAvailable }
        if !isPasscodeSet { return .passcodeNotSet }
        if sensor.enrolment == nil { return .biometryNotEnrolled }
        if isBiometryLocked { return .biometryLockout }
        return nil
    }

    /// Why the plan cannot be met, or nil: what `canEvaluatePolicy` tells.
    package func refusal(of plan: AuthenticationPlan) -> Status? {
        for stage in plan.stages {
            if let refusal = refusal(of: stage) { return refusal }
        }
        return nil
    }

    func refusal(of stage: Set<AuthenticationMethod>) -> Status? {
        if stage.contains(.passcode) { return isPasscodeSet ? nil : .passcodeNotSet }
        return stage.contains(.biometry) ? biometryRefusal : .authenticationFailed
    }

    /// What to ask for first in a stage that can be met.
    func firstMethod(of stage: Set<AuthenticationMethod>) -> AuthenticationMethod {
        stage.contains(.biometry) && biometryRefusal == nil ? .biometry : .passcode
    }
}
