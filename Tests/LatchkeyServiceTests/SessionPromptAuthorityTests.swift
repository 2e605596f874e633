// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import Testing

/// The authority of a user shows a prompt in each of two login sessions, and verifies one of their passcodes at a time.
@Suite struct SessionPromptAuthorityTests {
    /// Shows every prompt, and remembers whom to notify of what happens at it.
    private final class Screens: Prompter {
        private struct State: Sendable {
            var events: [UInt64: @Sendable (PromptEvent) -> Void] = [:]
            var contents: [UInt64: PromptContent] = [:]
        }
        private let state = Mutex(State())
        var shown: [UInt64] { state.withLock { $0.events.keys.sorted() } }

        func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
            state.withLock { ($0.events[prompt.id], $0.contents[prompt.id]) = (events, prompt.content) }
        }
        func update(_ id: UInt64, _ content: PromptContent) { state.withLock { $0.contents[id] = content } }
        func dismiss(_ id: UInt64) { state.withLock { $0.events[id] = nil } }
        func content(_ id: UInt64) -> PromptContent? { state.withLock { $0.contents[id] } }
        func act(_ id: UInt64, _ event: PromptEvent) { state.withLock { $0.events[id] }?(event) }
        func type(_ passcode: String, _ id: UInt64) { act(id, .passcode(SecretBytes(passcode.utf8))) }
    }

    /// A store whose passcode is 1234.
    private final class Store: AuthorityClient, CounterStore {
        private struct State: Sendable {
            var verified = 0
            var stored: [PolicyCounters] = []
        }
        private let state = Mutex(State())
        let whileVerifying = Interruption()
        /// The number of passcodes that were verified.
        var verified: Int { state.withLock { $0.verified } }
        var failures: Int? { state.withLock { $0.stored.last?.passcodeFailures } }

        /// A right passcode opens a slot whose key has the number of the verification.
        func open(_ typed: SecretBytes) throws(Failure) -> PasscodeVerdict {
            let number = state.withLock { state in
                state.verified += 1
                return UInt8(state.verified)
            }
            whileVerifying.happen()
            return typed == SecretBytes("1234".utf8)
                ? .right(OpenedPasscode(slotKey: SecretBytes([number]))) : .wrong
        }
        func persist(_ counters: PolicyCounters) throws(Failure) { state.withLock { $0.stored.append(counters) } }
        func storedCounters() throws(Failure) -> (PolicyCounters, isOfThisBoot: Bool)? { nil }
        func adopt(_ set: EnrolmentSet?) throws(Failure) {}
        func counted(_ counters: PolicyCounters) {}
        func countersWereLost() throws(Failure) {}
    }

    /// The answers to evaluations, and what their right passcodes have opened.
    private final class Answers: Sendable {
        private struct State: Sendable {
            var answers: [UInt8: Result<AuthenticationGrant, Failure>] = [:]
            var opened: [UInt8: [UInt8]] = [:]
            var failed: [UInt8: [TriedProof]] = [:]
        }
        private let state = Mutex(State())
        var opened: [UInt8: [UInt8]] { state.withLock { $0.opened } }
        var failed: [UInt8: [TriedProof]] { state.withLock { $0.failed } }
        func failed(_ proof: TriedProof, _ number: UInt8) {
            state.withLock { $0.failed[number, default: []].append(proof) }
        }
        func record(_ answer: Result<AuthenticationGrant, Failure>, _ opened: OpenedPasscode?, of number: UInt8) {
            state.withLock { ($0.answers[number], $0.opened[number]) = (answer, opened?.slotKey.copyBytes()) }
        }

        /// The methods of a grant, or the status of a refusal; nil before the answer.
        func word(_ number: UInt8) -> String? {
            switch state.withLock({ $0.answers[number] }) {
            case nil: nil
            case .success(let grant): grant.token.methods.map { "\($0)" }.sorted().joined(separator: " ")
            case .failure(let failure): "\(failure.status)"
            }
        }
    }

    private let screens = Screens()
    private let store = Store()
    private let stretching = HeldStretchQueue()
    private let answers = Answers()
    private let clock = VirtualClock()
    private let authority: LocalAuthority

    init() throws {
        let parts = LocalAuthority.Parts(
            tier: .file, userID: 1, reader: AbsentReader(), prompter: screens, clock: clock,
            random: SystemRandomSource(), work: ImmediateWorkQueue(), stretching: stretching,
            counters: .success(store), permissions: nil)
        authority = try LocalAuthority(parts)
        authority.attach(to: store, isPasscodeSet: true, isLocked: false)
    }

    /// Asks for the passcode for a program of a session, whose prompt becomes visible.
    @discardableResult
    private func ask(_ number: UInt8, session: String) -> UInt64 {
        var caller = Caller(groups: ["g"], label: "notes", processID: Int32(number), userID: 1)
        caller.loginSession = session
        let request = AuthenticationRequest(
            plan: AuthenticationPlan([[.passcode]]), process: caller.processName,
            prompting: Prompting(reason: "test"), challenge: [UInt8](repeating: number, count: 32),
            binding: [UInt8](repeating: 0, count: 32))
        let id = authority.evaluate(request, of: caller, account: .none) { [answers] in
            answers.failed($0, number)
        } _: { [answers] in
            answers.record($0, $1, of: number)
        }
        screens.act(id, .visible)
        return id
    }

    @Test func eachSessionShowsAPromptAndTheReportNamesBoth() {
        let (one, two) = (ask(1, session: "1"), ask(2, session: "2"))
        ask(3, session: "2")
        #expect(screens.shown == [one, two])
        #expect(authority.shownPrompts.map(\.session) == ["1", "2"])
        #expect(authority.shownPrompts.map(\.processID) == [1, 2])
    }

    @Test func onePasscodeIsVerifiedAtATime_LA30() {
        let (one, two) = (ask(1, session: "1"), ask(2, session: "2"))
        screens.type("0000", one)
        screens.type("1234", two)
        #expect(stretching.count == 1 && store.failures == 1)
        stretching.step()
        #expect(stretching.count == 1 && store.failures == 2, "the second passcode is counted after the first")
        stretching.step()
        #expect(answers.word(1) == nil && answers.word(2) == "passcode")
        #expect(store.failures == 0 && store.verified == 2)
    }

    @Test func cancellingBetweenTheEntriesYieldsNoFurtherTry_LA30() {
        for round: UInt8 in 0..<10 {
            let one = ask(2 * round + 1, session: "1")
            let two = ask(2 * round + 2, session: "2")
            screens.type("0\(round)", one)
            screens.type("1\(round)", two)
            screens.act(one, .cancel)
            stretching.run()
            screens.act(two, .cancel)
        }
        #expect(store.verified + stretching.count <= 3 && store.failures == 3)
    }

    @Test func whatAPasscodeOpensBelongsToItsEvaluation() {
        let (one, two) = (ask(1, session: "1"), ask(2, session: "2"))
        screens.type("1234", two)
        screens.type("1234", one)
        stretching.run()
        #expect(answers.opened == [2: [1], 1: [2]])
    }

    @Test func rightPasscodeOfACancelledEvaluationAnswersNoOtherOne() {
        let (one, two) = (ask(1, session: "1"), ask(2, session: "2"))
        screens.type("1234", one)
        screens.type("0000", two)
        screens.act(one, .cancel)
        stretching.run()
        #expect(answers.word(1) == "userCancel" && answers.word(2) == nil)
        #expect(answers.opened.isEmpty)
        #expect(authority.state.passcodeFailures >= 1)
    }

    /// A program cannot keep its name out of the audit log by ending its request while the passcode is verified.
    @Test(.promise("tries.audit")) func aWrongPasscodeIsReportedToItsEvaluationAlsoAfterItsEnd() {
        let (one, two) = (ask(1, session: "1"), ask(2, session: "2"))
        screens.type("0000", one)
        store.whileVerifying.set { [authority] in authority.withdraw(one, .appCancel) }
        stretching.run()
        #expect(answers.word(1) == "appCancel" && answers.failed == [1: [.passcode]])
        screens.type("0000", two)
        screens.type("0000", two)
        stretching.run()
        #expect(answers.failed == [1: [.passcode], 2: [.passcode]], "the same one again is no try")
    }

    @Test func theEndOfAConnectionEntersTheHeldPasscode() {
        let (one, two) = (ask(1, session: "1"), ask(2, session: "2"))
        screens.type("0000", one)
        screens.type("1234", two)
        authority.withdraw(one, .systemCancel)
        stretching.run()
        #expect(answers.word(1) == "systemCancel" && answers.word(2) == "passcode")
        #expect(authority.state.passcodeFailures == 0)
    }

    @Test func aDelayIsShownInBothSessionsAndEndsInBoth_LA30() {
        let (one, two) = (ask(1, session: "1"), ask(2, session: "2"))
        for wrong in ["01", "02"] {
            screens.type(wrong, one)
            stretching.run()
        }
        screens.type("03", two)
        stretching.run()
        #expect(screens.content(one)?.delaySeconds == 5 && screens.content(two)?.delaySeconds == 5)
        screens.type("1234", one)
        #expect(stretching.count == 0, "rejected without being verified")
        clock.advance(seconds: 5)
        #expect(screens.content(one)?.delaySeconds == 0 && screens.content(two)?.delaySeconds == 0)
        screens.type("1234", one)
        stretching.run()
        #expect(answers.word(1) == "passcode")
    }

    @Test func aLockEndsThePromptsOfBothSessions() {
        ask(1, session: "1")
        let two = ask(2, session: "2")
        screens.type("1234", two)
        authority.report(.sessionLocked, then: nil)
        stretching.run()
        #expect(answers.word(1) == "systemCancel" && answers.word(2) == "systemCancel")
        #expect(screens.shown.isEmpty && authority.shownPrompts.isEmpty && store.verified == 0)
    }
}
