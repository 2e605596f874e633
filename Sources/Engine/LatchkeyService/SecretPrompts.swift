// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Which programs are being asked for, and which were refused a short time ago, so that no program causes a storm of prompts.
///
/// A prompt is for items, or for the keychain as a whole. The requests of a program for the same items share the prompt that is
/// shown for them, and its answer; others wait for its end and are asked for then. After a refusal the program is refused without
/// a prompt for 10 s, and after each further one for twice as long, at most an hour. An allowed request ends that.
final class SecretPrompts: Sendable {
    typealias Answer = Result<SecretAnswer, Failure>

    private struct Program: Sendable {
        /// The items of the prompt that is shown; nil if none is.
        var items: Set<String>?
        /// Requests for these items, which get its answer.
        var waiting: [CheckedContinuation<Answer?, Never>] = []
        /// Requests for other items.
        var later: [CheckedContinuation<Answer?, Never>] = []
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

    /// Returns the answer of the prompt that is shown for the program and these items; otherwise that of `ask`, which shows one.
    func answer(
        for program: String, _ items: Set<String>, _ ask: () async throws(Failure) -> SecretAnswer
    ) async throws(Failure) -> SecretAnswer {
        while try !begin(program, items) {
            if let answer = await shared(program, items) { return try answer.get() }
        }
        let answer: Answer
        do throws(Failure) { answer = .success(try await ask()) } catch { answer = .failure(error) }
        let (waiting, later) = end(program, answer)
        for request in waiting { request.resume(returning: answer) }
        for request in later { request.resume(returning: nil) }
        return try answer.get()
    }

    /// Whether this request shows a prompt, because none is shown for the program.
    private func begin(_ program: String, _ items: Set<String>) throws(Failure) -> Bool {
        let now = clock.uptime
        return try known.withLock { (known) throws(Failure) in
            var state = known[program] ?? Program()
            guard state.refusedUntil <= now else { throw Self.refusedBefore }
            guard state.items == nil else { return false }
            state.items = items
            known[program] = state
            return true
        }
    }

    /// Waits for the end of the prompt that is shown; nil if it was for other items.
    private func shared(_ program: String, _ items: Set<String>) async -> Answer? {
        await withCheckedContinuation { continuation in
            let isWaiting = known.withLock { known in
                guard let shown = known[program]?.items else { return false }
                if items.isSubset(of: shown) {
                    known[program]?.waiting.append(continuation)
                } else {
                    known[program]?.later.append(continuation)
                }
                return true
            }
            // The prompt has ended since.
            if !isWaiting { continuation.resume(returning: nil) }
        }
    }

    private func end(
        _ program: String, _ answer: Answer
    ) -> (waiting: [CheckedContinuation<Answer?, Never>], later: [CheckedContinuation<Answer?, Never>]) {
        let now = clock.uptime
        return known.withLock { known in
            var state = known.removeValue(forKey: program) ?? Program()
            let requests = (state.waiting, state.later)
            (state.items, state.waiting, state.later) = (nil, [], [])
            guard answer.isRefusal else { return requests }
            state.seconds = min(max(2 * state.seconds, Self.firstSeconds), Self.longestSeconds)
            state.refusedUntil = now + state.seconds * 1_000_000_000
            let forgettable = known.filter { $0.value.items == nil }
            if known.count >= Self.programs,
                let oldest = forgettable.min(by: { $0.value.refusedUntil < $1.value.refusedUntil })
            {
                known[oldest.key] = nil
            }
            known[program] = state
            return requests
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
