// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The prompts that answer one call of latchkeyd, one after the other. The token of each is for that call; only one of
/// them is sent.
final class PromptSequence: Sendable {
    private struct State: Sendable {
        /// The number of prompts so far.
        var turn = 0
        /// The evaluation that is under way.
        var evaluation: UInt64?
        var withdrawn: Status?
    }
    private let authority: LocalAuthority
    private let request: AuthenticationRequest
    /// Called when a prompt has ended, before its result is used.
    private let ended: @Sendable () -> Void
    private let state = Mutex(State())

    /// Creates a sequence for a request, whose last step and stages may differ from prompt to prompt.
    init(_ authority: LocalAuthority, _ request: AuthenticationRequest, ended: @escaping @Sendable () -> Void) {
        (self.authority, self.request, self.ended) = (authority, request, ended)
    }

    /// The challenge of the call.
    var challenge: [UInt8] { request.challenge }

    /// Shows the prompt of the request itself.
    func ask(_ then: @escaping @Sendable (AuthenticationAnswer) -> Void) { ask(request, then) }

    /// Shows a prompt that has one step, and nothing to prove.
    func ask(
        _ step: RequestedStep, _ notice: PromptContent.Notice = .none,
        _ then: @escaping @Sendable (AuthenticationAnswer) -> Void
    ) {
        var request = request
        request.plan = AuthenticationPlan([])
        request.account = .none
        request.lastStep = step
        request.notice = notice
        ask(request, then)
    }

    private func ask(
        _ request: AuthenticationRequest, _ then: @escaping @Sendable (AuthenticationAnswer) -> Void
    ) {
        let (turn, withdrawn) = state.withLock { state in
            state.turn += 1
            state.evaluation = nil
            return (state.turn, state.withdrawn)
        }
        if let withdrawn { return then(.denied(withdrawn)) }
        let evaluation = authority.evaluate(request) { [self] answer in
            ended()
            then(answer)
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

extension AuthenticationAnswer {
    /// The reply that passes a refusal on to latchkeyd; nil for a request that was granted.
    var refusal: AuthorityReply? {
        switch self {
        case .granted: nil
        case .denied(let status): .denied(status)
        case .failed(let failure): .failure(failure)
        }
    }
}
