// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The sensor is used for one evaluation at a time. The others offer another method, or wait at their prompts.

extension PolicyState {
    /// Whether the sensor scans for an evaluation, or is going to when its prompt is visible and its question answered.
    private func usesSensor(_ evaluation: ActiveEvaluation) -> Bool {
        switch evaluation.phase {
        case .biometry(.waiting), .biometry(.stopped), .passcode, .lastStep, .repeatingNewPasscode: false
        case .biometry: true
        }
    }

    /// What a prompt for biometry begins with when the sensor is free.
    private func firstScan(for request: EvaluationRequest) -> ActiveEvaluation.Scan {
        switch question(request.faceUser) {
        case .none: .appearing
        case .permission: .askingPermission
        case .scan: .askingToScan
        }
    }

    /// Sets the method with which a stage begins: not biometry if the sensor is used for another evaluation.
    func beginStage(_ stage: Set<AuthenticationMethod>, _ evaluation: inout ActiveEvaluation) {
        let request = evaluation.request
        guard firstMethod(of: stage, for: request) == .biometry else {
            evaluation.phase = .typing
            return
        }
        guard active.contains(where: { $0.request.id != request.id && usesSensor($0) }) else {
            evaluation.phase = .biometry(firstScan(for: request))
            return
        }
        evaluation.phase =
            stage.contains(.passcode) ? .passcode(.passcode, .typing(awaitsSensor: true)) : .biometry(.waiting)
        evaluation.notice = .sensorInUse
    }

    /// Gives the sensor to the evaluation that has waited for it longest, if no other one uses it.
    mutating func passSensor() -> [PolicyEffect] {
        var effects: [PolicyEffect] = []
        while !active.contains(where: usesSensor), let next = active.first(where: takesSensor) {
            effects += takeSensor(next)
        }
        return effects
    }

    /// Whether an evaluation waits for the sensor. One whose passcode was entered does not take it meanwhile.
    private func takesSensor(_ evaluation: ActiveEvaluation) -> Bool {
        evaluation.awaitsSensor && !isHeld(evaluation.request.id)
    }

    private mutating func takeSensor(_ waiting: ActiveEvaluation) -> [PolicyEffect] {
        var evaluation = waiting
        let id = evaluation.request.id
        evaluation.notice = .none
        if let refusal = biometryRefusal(of: evaluation.request) {
            let notice: PromptContent.Notice = isBiometryLocked ? .biometryLocked : .none
            guard evaluation.method != .biometry else {
                return leaveMethod(evaluation, notice: notice, status: refusal)
            }
            evaluation.phase = .typing
            evaluation.notice = notice
            put(evaluation)
            return [.update(id, content(evaluation))] + delay(evaluation)
        }
        evaluation.phase = .biometry(firstScan(for: evaluation.request))
        evaluation.failedTries = 0
        // As for every prompt, the sensor is armed only when the user can see which program requests the scan.
        let arm = evaluation.isVisible ? evaluation.arm() : []
        put(evaluation)
        return [.update(id, content(evaluation))] + arm
    }
}
