// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Which programs are being asked for, and which were refused a short time ago, so that no program causes a storm of prompts.
///
/// The requests of a program share the prompt that is shown for it, and its answer. After a refusal the program is refused
/// without a prompt for 10 s, and after each further one for twice as long, at most an hour. An allowed request ends that.
final class SecretPrompts: Sendable {
    typealias Answer = Result<SecretAnswer, Failure>

    private struct Program: Sendable {
        /// Requests that wait for the prompt; nil if none is shown.
        var waiting: [CheckedContinuation<Answer, Never>]?
        var refusedUntil: Int64 = 0
        var seconds: Int64 = 0
    }

    private static let firstSeconds: Int64 = 10
    private static let longestSeconds: Int64 = 3600
    /// Programs that are remembered; the one whose refusal ends first is forgotten.
    private static let programs = 256

    private let clock: any Clock
    private let known = Mutex<[String: Program]>([:])

    init(_ clock: any Clock) { self.clock = clock }

    /// Returns the answer of the prompt that is shown for the program; otherwise that of `ask`, which shows one.
    func answer(
        for program: String, _ ask: () async throws(Failure) -> SecretAnswer
    ) async throws(Failure) -> SecretAnswer {
        let now = clock.uptime
        let isFirst = try known.withLock { (known) throws(Failure) in
            var state = known[program] ?? Program()
            guard state.refusedUntil <= now else { throw Self.refusedBefore }
            guard state.waiting == nil else { return false }
            state.waiting = []
            known[program] = state
            return true
        }
        guard isFirst else { return try await shared(program).get() }
        let answer: Answer
        do throws(Failure) { answer = .success(try await ask()) } catch { answer = .failure(error) }
        for waiting in end(program, answer) { waiting.resume(returning: answer) }
        return try answer.get()
    }

    private func shared(_ program: String) async -> Answer {
        await withCheckedContinuation { continuation in
            let isWaiting = known.withLock { known in
                guard known[program]?.waiting != nil else { return false }
                known[program]?.waiting?.append(continuation)
                return true
            }
            // The prompt has ended since.
            if !isWaiting { continuation.resume(returning: .failure(Self.refusedBefore)) }
        }
    }

    private func end(_ program: String, _ answer: Answer) -> [CheckedContinuation<Answer, Never>] {
        let now = clock.uptime
        return known.withLock { known in
            var state = known.removeValue(forKey: program) ?? Program()
            let waiting = state.waiting ?? []
            state.waiting = nil
            guard answer.isRefusal else { return waiting }
            state.seconds = min(max(2 * state.seconds, Self.firstSeconds), Self.longestSeconds)
            state.refusedUntil = now + state.seconds * 1_000_000_000
            if known.count >= Self.programs,
                let oldest = known.filter({ $0.value.waiting == nil })
                    .min(by: { $0.value.refusedUntil < $1.value.refusedUntil })
            {
                known[oldest.key] = nil
            }
            known[program] = state
            return waiting
        }
    }

    static let refusedBefore = Failure(
        .userCancel, "The person refused this program a moment ago.",
        hint: "Wait, or change the answer with: latchkey secrets answers")
}

extension SecretPrompts.Answer {
    /// Whether the person refused, rather than that no prompt could be shown.
    fileprivate var isRefusal: Bool {
        switch self {
        case .success(let answer): answer == .never
        case .failure(let failure): [.userCancel, .interrupted, .authenticationFailed].contains(failure.status)
        }
    }
}
