// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The step behind the last stage of a plan: a recovery code is shown, or asked for.

extension PolicyState {
    /// Puts up the prompt of an evaluation that has nothing to prove.
    mutating func activateLastStep(_ request: EvaluationRequest) -> [PolicyEffect] {
        let evaluation = ActiveEvaluation(
            request: request, stage: 0, method: .passcode, isVisible: false, isArmed: false, isAskingPermission: false,
            isChecking: false, failedTries: 0, proven: .none, notice: .none)
        active = evaluation
        return [.show(request, content(evaluation)), .startDeadline(request.id, seconds: Limits.recoveryCodeSeconds)]
    }

    /// Everything is proven: grants, or goes on with the last step in the same prompt.
    mutating func beginLastStep(_ evaluation: ActiveEvaluation) -> [PolicyEffect] {
        let id = evaluation.request.id
        guard evaluation.request.lastStep != .none else {
            active = evaluation
            return end(id, .granted(evaluation.proven))
        }
        var evaluation = evaluation
        let disarm: [PolicyEffect] = evaluation.isArmed ? [.disarm(id)] : []
        evaluation.stage = evaluation.request.plan.stages.count
        // No method is asked for any more; this one has no sensor and no button.
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

    /// The person did what the last step asks for.
    mutating func endLastStep(_ id: UInt64, _ step: PromptContent.Step) -> [PolicyEffect] {
        guard let evaluation = active, evaluation.request.id == id, evaluation.isVisible, evaluation.step == step
        else { return [] }
        return end(id, .granted(evaluation.proven))
    }
}
