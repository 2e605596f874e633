// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The last step of an evaluation, after all stages of its plan: the prompt shows or requests a recovery code.

extension PolicyState {
    /// Activates an evaluation whose plan has no stages, so that it begins with the last step.
    mutating func activateLastStep(_ request: EvaluationRequest) -> [PolicyEffect] {
        let evaluation = ActiveEvaluation(
            request: request, stage: 0, method: .passcode, isVisible: false, isArmed: false, isAskingPermission: false,
            isChecking: false, failedTries: 0, proven: .none, notice: .none)
        active = evaluation
        return [.show(request, content(evaluation)), .startDeadline(request.id, seconds: Limits.recoveryCodeSeconds)]
    }

    /// Continues when all stages are complete: with the last step in the same prompt, or with the grant.
    mutating func beginLastStep(_ evaluation: ActiveEvaluation) -> [PolicyEffect] {
        let id = evaluation.request.id
        guard evaluation.request.lastStep != .none else {
            active = evaluation
            return end(id, .granted(evaluation.proven))
        }
        var evaluation = evaluation
        let disarm: [PolicyEffect] = evaluation.isArmed ? [.disarm(id)] : []
        evaluation.stage = evaluation.request.plan.stages.count
        // No method is requested any more. The passcode is the placeholder, since it needs neither sensor nor fallback.
        evaluation.method = .passcode
        evaluation.isArmed = false
        evaluation.isAskingPermission = false
        evaluation.keeping = nil
        evaluation.failedTries = 0
        evaluation.notice = .none
        active = evaluation
        return disarm + [
            .update(id, content(evaluation)), .startDeadline(id, seconds: Limits.recoveryCodeSeconds),
        ]
    }

    /// Grants the evaluation when the user completed the last step.
    mutating func endLastStep(_ id: UInt64, _ step: PromptContent.Step) -> [PolicyEffect] {
        guard let evaluation = active, evaluation.request.id == id, evaluation.isVisible, evaluation.step == step
        else { return [] }
        return end(id, .granted(evaluation.proven))
    }
}
