// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The prompts that answer one call of latchkeyd, one after the other. The token of each is for that call; only one of
/// them is sent.
final class PromptSequence: Sendable {
    private struct State: Sendable {
        var turn = 0
        var evaluation: UInt64?
        var withdrawn: Status?
    }
    private let authority: LocalAuthority
    private let request: AuthenticationRequest
    private let caller: Caller
    let account: AccountStep
    /// Called for each try at one of the prompts that failed.
    private let failed: @Sendable (TriedProof) -> Void
    /// Called when a prompt has ended, before its result is used.
    private let ended: @Sendable () -> Void
    private let state = Mutex(State())

    /// Creates a sequence for a request, whose last step and stages may differ from prompt to prompt.
    ///
    /// - Parameter account: the step before the stages of the request itself.
    init(
        _ authority: LocalAuthority, _ request: AuthenticationRequest, of caller: Caller, account: AccountStep,
        failed: @escaping @Sendable (TriedProof) -> Void, ended: @escaping @Sendable () -> Void
    ) {
        (self.authority, self.request, self.caller, self.account) = (authority, request, caller, account)
        (self.failed, self.ended) = (failed, ended)
    }

    typealias Completion = @Sendable (Result<AuthenticationGrant, Failure>) -> Void

    /// Shows the prompt of the request itself.
    ///
    /// - Parameter then: also receives what the passcode that was entered has opened.
    func ask(_ then: @escaping @Sendable (Result<AuthenticationGrant, Failure>, OpenedPasscode?) -> Void) {
        ask(request, account, .none, then)
    }

    /// Shows a prompt that has one step, and nothing to prove.
    ///
    /// - Parameter code: the recovery code to show.
    func ask(
        _ step: LastStep, showing code: SecretBytes? = nil, _ notice: PromptContent.Notice = .none,
        _ then: @escaping Completion
    ) {
        var request = request
        request.plan = AuthenticationPlan([])
        (request.lastStep, request.recoveryCode) = (step, code)
        ask(request, .none, notice) { answer, _ in then(answer) }
    }

    private func ask(
        _ request: AuthenticationRequest, _ account: AccountStep, _ notice: PromptContent.Notice,
        _ then: @escaping @Sendable (Result<AuthenticationGrant, Failure>, OpenedPasscode?) -> Void
    ) {
        let (turn, withdrawn) = state.withLock { state in
            state.turn += 1
            state.evaluation = nil
            return (state.turn, state.withdrawn)
        }
        if let withdrawn { return then(.failure(Failure(withdrawn)), nil) }
        let evaluation = authority.evaluate(request, of: caller, account: account, notice: notice, failed: failed) {
            [self] answer, opened in
            ended()
            then(answer, opened)
        }
        // The prompt may have ended already, and the next one may be shown.
        let withdrawal: Status? = state.withLock { state in
            guard state.turn == turn else { return nil }
            state.evaluation = evaluation
            return state.withdrawn
        }
        if let withdrawal { authority.withdraw(evaluation, withdrawal) }
    }

    /// Ends the prompt that is shown, and shows no further one.
    func withdraw(_ status: Status) {
        let evaluation = state.withLock { state in
            state.withdrawn = status
            return state.evaluation
        }
        if let evaluation { authority.withdraw(evaluation, status) }
    }
}

extension AuthenticationGrant {
    /// The text that the user entered in the last step; nil if that does not ask for one.
    var text: SecretBytes? { if case .text(let text)? = entered { text } else { nil } }
}

/// Calls a closure when a number of tasks are done.
final class Countdown: Sendable {
    private let left: Mutex<Int>
    private let done: @Sendable () -> Void

    init(of count: Int, _ done: @escaping @Sendable () -> Void) {
        left = Mutex(count)
        self.done = done
    }

    /// Reports that one task is done. Calls after the last one have no effect.
    func down() {
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { done() }
    }
}
