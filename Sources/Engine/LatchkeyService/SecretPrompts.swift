// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Which programs are being asked for, and which were refused a short time ago, so that no program causes a storm of prompts.
///
/// A prompt is for items, or for the keychain as a whole. The requests of a program for the same items share the prompt that is
/// shown for them, and its answer; others wait for its end and are asked for then. After a refusal the program is refused without
/// a prompt for 10 s, and after each further one for twice as long, at most an hour. A prompt that ends without an answer counts
/// as a refusal, but makes the time no longer than five minutes: the person may be away. An allowed request ends that.
///
/// A program that is started from other paths has other names. So when prompts of several programs were refused or not answered
/// within some minutes, the person is asked for no further program for a while, but for those that they have allowed before.
final class SecretPrompts: Sendable {
    typealias Answer = Result<SecretAnswer, Failure>

    fileprivate struct Program: Sendable {
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
    private static let longestUnansweredSeconds: Int64 = 300
    /// That many programs within that time begin a pause of that length for programs that were not allowed before.
    fileprivate static let refusedPrograms = 5
    fileprivate static let refusedWithin: Int64 = 600 * 1_000_000_000
    fileprivate static let pause: Int64 = 300 * 1_000_000_000
    /// Programs that are remembered; the one whose refusal ends first is forgotten.
    fileprivate static let programs = 256

    fileprivate struct State: Sendable {
        var programs: [String: Program] = [:]
        /// The programs that the person has allowed something since the daemon was started, the last one last.
        var allowed: [String] = []
        /// Other ones, with when a prompt of each was refused or not answered.
        var refused: [String: Int64] = [:]
        var pausedUntil: Int64 = 0
    }

    private let clock: any Clock
    private let state = Mutex(State())

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
        return try state.withLock { (state) throws(Failure) in
            var asked = state.programs[program] ?? Program()
            guard asked.refusedUntil <= now else { throw Refusal.promptDelayed(for: asked.refusedUntil - now) }
            guard asked.items == nil else { return false }
            guard state.pausedUntil <= now || state.allowed.containsBytes(of: program) else { throw Self.paused }
            asked.items = items
            state.programs[program] = asked
            return true
        }
    }

    /// Waits for the end of the prompt that is shown; nil if it was for other items.
    private func shared(_ program: String, _ items: Set<String>) async -> Answer? {
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                guard let shown = state.programs[program]?.items else { return false }
                if items.isSubset(of: shown) {
                    state.programs[program]?.waiting.append(continuation)
                } else {
                    state.programs[program]?.later.append(continuation)
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
        return state.withLock { state in
            var asked = state.programs.removeValue(forKey: program) ?? Program()
            let requests = (asked.waiting, asked.later)
            (asked.items, asked.waiting, asked.later) = (nil, [], [])
            switch answer.refusal {
            case .allowed: state.allow(program)
            // Otherwise a program could shorten the time by a request that shows none.
            case .noPrompt: if asked.seconds > 0 { state.remember(program, asked) }
            case .refused, .unanswered:
                let limit = answer.refusal == .refused ? Self.longestSeconds : Self.longestUnansweredSeconds
                asked.seconds = min(max(2 * asked.seconds, Self.firstSeconds), max(limit, asked.seconds))
                asked.refusedUntil = now + asked.seconds * 1_000_000_000
                state.remember(program, asked)
                state.refuse(program, now)
            }
            return requests
        }
    }

    /// Not for how long exactly: that would say when other programs asked.
    private static let paused = Failure(
        .promptDelayed,
        """
        Prompts of several programs were refused or not answered a short time ago, so none is shown for this program now. \
        Try again in five minutes.
        """, hint: "Meanwhile only programs that were allowed something before have prompts.")
}

extension SecretPrompts.State {
    fileprivate mutating func allow(_ program: String) {
        allowed.removeAll { $0.hasBytes(of: program) }
        if allowed.count >= SecretPrompts.programs { allowed.removeFirst() }
        allowed.append(program)
        refused[program] = nil
    }

    fileprivate mutating func remember(_ program: String, _ asked: SecretPrompts.Program) {
        let forgettable = programs.filter { $0.value.items == nil }
        if programs.count >= SecretPrompts.programs,
            let oldest = forgettable.min(by: { $0.value.refusedUntil < $1.value.refusedUntil })
        {
            programs[oldest.key] = nil
        }
        programs[program] = asked
    }

    fileprivate mutating func refuse(_ program: String, _ now: Int64) {
        guard !allowed.containsBytes(of: program) else { return }
        refused = refused.filter { $0.value > now - SecretPrompts.refusedWithin }
        refused[program] = now
        guard refused.count >= SecretPrompts.refusedPrograms else { return }
        pausedUntil = now + SecretPrompts.pause
        refused = [:]
    }
}

extension SecretPrompts.Answer {
    fileprivate enum Refusal { case allowed, refused, unanswered, noPrompt }

    /// Whether the person refused; or did not answer the prompt before it ended, or the program withdrew it.
    fileprivate var refusal: Refusal {
        switch self {
        case .success(.never): .refused
        case .success: .allowed
        case .failure(let failure):
            switch failure.status {
            case .userCancel, .interrupted, .authenticationFailed: .refused
            case .systemCancel, .appCancel, .passcodeDelayed: .unanswered
            default: .noPrompt
            }
        }
    }
}
