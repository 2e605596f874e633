// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The sensor is used for one evaluation at a time. The others offer another method, or wait at their prompts.

extension PolicyState {
    /// Whether the sensor scans for an evaluation, or is going to when its prompt is visible and its question answered.
    private func usesSensor(_ evaluation: ActiveEvaluation) -> Bool {
        guard evaluation.method == .biometry, !evaluation.awaitsSensor else { return false }
        // A prompt that stays with its fallback button after the last try does not scan any more (behaviour LA-27).
        return evaluation.isArmed || evaluation.failedTries < sensor.kind.triesPerEvaluation
    }

    /// Whether the sensor can scan for an evaluation as soon as its prompt is visible.
    func mayScan(_ evaluation: ActiveEvaluation) -> Bool {
        evaluation.method == .biometry && evaluation.question == .none && !evaluation.awaitsSensor
    }

    /// Sets the method with which a stage begins: not biometry if the sensor is used for another evaluation.
    func chooseMethod(of stage: Set<AuthenticationMethod>, _ evaluation: inout ActiveEvaluation) {
        let request = evaluation.request
        evaluation.method = firstMethod(of: stage, for: request)
        evaluation.question = evaluation.method == .biometry ? question(request.faceUser) : .none
        evaluation.awaitsSensor =
            evaluation.method == .biometry && active.contains { $0.request.id != request.id && usesSensor($0) }
        guard evaluation.awaitsSensor else { return }
        if stage.contains(.passcode) { evaluation.method = .passcode }
        evaluation.question = .none
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
        evaluation.awaitsSensor && !evaluation.isChecking && evaluation.keeping == nil && !isHeld(evaluation.request.id)
    }

    private mutating func takeSensor(_ waiting: ActiveEvaluation) -> [PolicyEffect] {
        var evaluation = waiting
        let id = evaluation.request.id
        evaluation.awaitsSensor = false
        evaluation.notice = .none
        if let refusal = biometryRefusal(of: evaluation.request) {
            let notice: PromptContent.Notice = isBiometryLocked ? .biometryLocked : .none
            guard evaluation.method != .biometry else {
                return leaveMethod(evaluation, notice: notice, status: refusal)
            }
            evaluation.notice = notice
            put(evaluation)
            return [.update(id, content(evaluation))] + delay(evaluation)
        }
        evaluation.method = .biometry
        evaluation.question = question(evaluation.request.faceUser)
        evaluation.failedTries = 0
        // As for every prompt, the sensor is armed only when the user can see which program requests the scan.
        evaluation.isArmed = evaluation.isVisible && mayScan(evaluation)
        put(evaluation)
        return [.update(id, content(evaluation))] + (evaluation.isArmed ? [.arm(id)] : [])
    }
}
