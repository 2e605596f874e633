// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The last step of an evaluation, after all stages of its plan: the prompt shows or requests a recovery code,
// or requests a new passcode.

extension PolicyState {
    /// Continues when all stages are complete: with the last step in the same prompt, or with the grant.
    mutating func beginLastStep(_ evaluation: ActiveEvaluation) -> [PolicyEffect] {
        let id = evaluation.request.id
        guard evaluation.request.lastStep != .none || evaluation.accountHasExpired else {
            put(evaluation)
            return end(id, .success(evaluation.proven))
        }
        var evaluation = evaluation
        let disarm: [PolicyEffect] = evaluation.isArmed ? [.disarm(id)] : []
        evaluation.stage = evaluation.request.plan.stages.count
        evaluation.phase = .lastStep
        evaluation.failedTries = 0
        // A last step says it beside what it asks for.
        evaluation.notice = evaluation.accountHasExpired ? .accountPasswordExpired : .none
        put(evaluation)
        return disarm + [.update(id, content(evaluation)), .startDeadline(id, seconds: evaluation.step.seconds)]
    }

    /// Grants the evaluation when the user completed the last step.
    mutating func endLastStep(_ id: UInt64, _ steps: PromptContent.Step...) -> [PolicyEffect] {
        guard let evaluation = inLastStep(id, steps) else { return [] }
        return end(id, .success(evaluation.proven))
    }

    /// Returns the evaluation with that number if its prompt is visible and in one of those steps.
    private func inLastStep(_ id: UInt64, _ steps: [PromptContent.Step]) -> ActiveEvaluation? {
        visible(id).flatMap { steps.contains($0.step) ? $0 : nil }
    }

    /// Asks for the recovery code again. A typing error is no try: it does not tell whether a code is right.
    mutating func codeMistyped(_ id: UInt64) -> [PolicyEffect] {
        guard var evaluation = inLastStep(id, [.recoveryCodeAsked]) else { return [] }
        evaluation.notice = .recoveryCodeMistyped
        put(evaluation)
        return [.update(id, content(evaluation))]
    }

    // MARK: - New passcode

    /// Asks for the new passcode again, or for another one if it is too short.
    mutating func newPasscodeEntered(_ id: UInt64, isLongEnough: Bool) -> [PolicyEffect] {
        guard let evaluation = inLastStep(id, [.newPasscodeAsked]) else { return [] }
        return askForNewPasscode(evaluation, again: isLongEnough, notice: isLongEnough ? .none : .newPasscodeTooShort)
    }

    /// Grants the evaluation if both entries are equal; otherwise asks for a new passcode from the beginning.
    mutating func newPasscodeRepeated(_ id: UInt64, isEqual: Bool) -> [PolicyEffect] {
        guard let evaluation = inLastStep(id, [.newPasscodeRepeated]) else { return [] }
        if isEqual { return end(id, .success(evaluation.proven)) }
        return askForNewPasscode(evaluation, again: false, notice: .newPasscodesDiffer)
    }

    private mutating func askForNewPasscode(
        _ evaluation: ActiveEvaluation, again: Bool, notice: PromptContent.Notice
    ) -> [PolicyEffect] {
        var evaluation = evaluation
        evaluation.phase = again ? .repeatingNewPasscode : .lastStep
        evaluation.notice = notice
        put(evaluation)
        return [.update(evaluation.request.id, content(evaluation))]
    }
}
