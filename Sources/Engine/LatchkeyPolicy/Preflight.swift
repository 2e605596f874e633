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
    ///
    /// - Parameters:
    ///   - session: the login session of the app; without one biometry is refused where sessions are known.
    ///   - acceptsWeak: whether the request is for a policy, which a weak sensor can answer.
    package func biometryRefusal(for faceUser: String?, in session: String = "", acceptsWeak: Bool = false) -> Status? {
        // The sensor belongs to the person at the machine, who sees no prompt of another session (abuse case 22).
        guard biometrySessions.permits(session) else { return .biometryNotAvailable }
        guard !sensor.isWeak || acceptsWeak else { return .biometryNotAvailable }
        guard sensor.kind == .faceID else { return biometryRefusal }
        guard let faceUser, facePermissions[faceUser] != false else { return .biometryNotAvailable }
        return biometryRefusal
    }

    /// Returns what the user must answer before the sensor is used: whether the app may use Face ID, and, for a weak
    /// sensor, whether to scan now. A user who has just allowed the app to use the camera need not also start the scan.
    func question(_ faceUser: String?) -> PromptContent.Question {
        if sensor.kind == .faceID, faceUser.flatMap({ facePermissions[$0] }) != true { return .permission }
        return sensor.isWeak ? .scan : .none
    }

    /// Returns why an app cannot evaluate a policy, as `canEvaluatePolicy` reports it; nil if it can.
    package func refusal(of policy: Policy, for faceUser: String?, in session: String) -> Status? {
        // Behaviour LA-05: of biometry and a paired device, the status is that of biometry if there is a sensor.
        if policy == .deviceOwnerAuthenticationWithBiometricsOrCompanion, sensor.kind == .none {
            return .companionNotAvailable
        }
        return refusal(of: policy.plan, for: faceUser, in: session, acceptsWeak: true)
    }

    /// Returns why the plan cannot be completed; nil if it can.
    package func refusal(
        of plan: AuthenticationPlan, for faceUser: String?, in session: String = "", acceptsWeak: Bool = false
    ) -> Status? {
        for stage in plan.stages {
            if let refusal = refusal(of: stage, for: faceUser, in: session, acceptsWeak: acceptsWeak) { return refusal }
        }
        return nil
    }

    /// Why the program of a request cannot use biometry; nil if it can.
    func biometryRefusal(of request: EvaluationRequest) -> Status? {
        biometryRefusal(for: request.faceUser, in: request.caller.loginSession, acceptsWeak: request.acceptsWeak)
    }

    /// Returns why the plan of a request cannot be completed; nil if it can.
    func refusal(of request: EvaluationRequest) -> Status? {
        refusal(
            of: request.plan, for: request.faceUser, in: request.caller.loginSession, acceptsWeak: request.acceptsWeak)
    }

    /// Returns why a stage of a request cannot be completed; nil if it can.
    func refusal(of stage: Set<AuthenticationMethod>, for request: EvaluationRequest) -> Status? {
        refusal(of: stage, for: request.faceUser, in: request.caller.loginSession, acceptsWeak: request.acceptsWeak)
    }

    /// Returns why a stage cannot be completed; nil if it can.
    private func refusal(
        of stage: Set<AuthenticationMethod>, for faceUser: String?, in session: String, acceptsWeak: Bool
    ) -> Status? {
        if stage.contains(.passcode) { return isPasscodeSet ? nil : .passcodeNotSet }
        if stage.contains(.biometry) { return biometryRefusal(for: faceUser, in: session, acceptsWeak: acceptsWeak) }
        return .companionNotAvailable
    }

    /// Returns the method with which a stage begins, provided that the stage can be completed.
    func firstMethod(of stage: Set<AuthenticationMethod>, for request: EvaluationRequest) -> AuthenticationMethod {
        stage.contains(.biometry) && biometryRefusal(of: request) == nil ? .biometry : .passcode
    }
}
