// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import LatchkeyModel
import LatchkeyPrompts
import TestPromises
import TestSupport
import Testing

/// Each prompt goes to an agent of the caller's user, and only that agent can answer it.
@Suite struct AgentRoutingTests {
    /// An agent's connection: the frames that it was sent.
    private final class Connection: Sendable {
        private let received = Recorder<AgentFrame>()
        private let agent: RegisteredAgent?
        var frames: [AgentFrame] { received.all }

        init(_ prompter: AgentPrompter, _ user: UInt32, _ session: String) {
            agent = prompter.register(user: user, session: session) { [received] payload in
                if let frame = try? AgentFrame(decoding: payload) { received.add(frame) }
            }
        }

        /// The numbers of the prompts that it was asked to show.
        var shown: [UInt64] {
            frames.compactMap { if case .message(let id, .show) = $0 { id } else { nil } }
        }

        func send(_ event: PromptEvent, _ prompt: UInt64) {
            let frame = AgentFrame.message(prompt: prompt, .event(event))
            #expect(agent?.received(frame.encoded()) == true)
        }

        /// Whether the connection may stay open after this event.
        func stays(after event: PromptEvent, _ prompt: UInt64) -> Bool {
            agent?.received(AgentFrame.message(prompt: prompt, .event(event)).encoded()) == true
        }

        func end() { agent?.disconnected() }
    }

    private let sessions = ["a": Int32(1), "b": 2, "": 3]
    private let prompter: AgentPrompter

    init() {
        let names = Dictionary(uniqueKeysWithValues: sessions.map { ($1, $0) })
        prompter = AgentPrompter { names[$0.processID] ?? "" }
    }

    private let content = PromptContent(method: .passcode, notice: .none, triesLeft: 3, showsFallback: false)

    private func show(_ id: UInt64, user: UInt32, session: String) throws -> Recorder<PromptEvent> {
        let events = Recorder<PromptEvent>()
        let prompt = Prompt(
            id: id, caller: "notes", processID: try #require(sessions[session]), reason: "", cancelTitle: "",
            fallbackTitle: "", faceUsage: "", sensor: .none, tier: .file, terminal: 0, userID: user, content: content)
        prompter.show(prompt, events: events.add)
        return events
    }

    @Test(.promise("attacker.other-user")) func promptGoesOnlyToAnAgentOfItsUser() throws {
        let (one, two) = (Connection(prompter, 1, "a"), Connection(prompter, 2, "b"))
        _ = try show(7, user: 2, session: "a")
        prompter.update(7, content)
        prompter.dismiss(7)
        #expect(one.frames == [.registered], "the session of another user decides nothing")
        #expect(two.shown == [7] && two.frames.count == 4)
    }

    @Test func anAgentShowsOnePromptAtATime() throws {
        let a = Connection(prompter, 1, "a")
        _ = try show(1, user: 1, session: "a")
        let events = try show(2, user: 1, session: "b")
        _ = try show(3, user: 1, session: "")
        #expect(a.shown == [1])
        a.send(.cancel, 2)
        #expect(events.all.isEmpty, "a prompt that the agent does not show cannot be answered")
        var later = content
        later.notice = .wrongPasscode
        prompter.update(2, later)
        prompter.dismiss(3)
        #expect(a.frames.count == 2, "nothing is sent about a prompt that waits")
        prompter.dismiss(1)
        #expect(a.shown == [1, 2])
        guard case .message(2, .show(let prompt))? = a.frames.last else { throw Failure(.internalFailure) }
        #expect(prompt.content == later, "with its latest content")
        a.send(.cancel, 2)
        #expect(events.all == [.cancel])
    }

    /// Outside tier `simulated` there is no hardware that an agent operates.
    @Test(arguments: [PromptEvent.simulatedTouch(matching: true), .simulatedTouch(matching: false)])
    func aSimulatedTouchEndsTheConnectionOfItsAgent(event: PromptEvent) throws {
        let a = Connection(prompter, 1, "a")
        let events = try show(1, user: 1, session: "a")
        #expect(a.stays(after: .visible, 1))
        for prompt: UInt64 in [1, 2] { #expect(!a.stays(after: event, prompt)) }
        #expect(events.all == [.visible])
        let simulated = AgentPrompter(isSimulated: true)
        #expect(Connection(simulated, 1, "").stays(after: event, 1))
    }

    @Test func theEndOfAnAgentEndsItsWaitingPrompts() throws {
        let a = Connection(prompter, 1, "a")
        let (first, second) = (try show(1, user: 1, session: "a"), try show(2, user: 1, session: "a"))
        a.end()
        #expect(first.all == [.lost] && second.all == [.lost])
    }

    @Test func theAgentOfAProgramIsThatOfItsSessionOrTheFirstOne() {
        #expect(prompter.agentSession(of: 1, for: "b") == nil)
        let (a, b) = (Connection(prompter, 1, "a"), Connection(prompter, 1, "b"))
        #expect(prompter.agentSession(of: 1, for: "b") == "b")
        #expect(prompter.agentSession(of: 1, for: "c") == "a")
        #expect(prompter.agentSession(of: 2, for: "a") == nil)
        a.end()
        #expect(prompter.agentSession(of: 1, for: "c") == "b")
        b.end()
    }

    @Test func promptPrefersTheSessionOfItsCaller() throws {
        let (a, b) = (Connection(prompter, 1, "a"), Connection(prompter, 1, "b"))
        _ = try show(1, user: 1, session: "b")
        _ = try show(2, user: 1, session: "a")
        prompter.dismiss(2)
        _ = try show(3, user: 1, session: "")
        #expect(b.shown == [1] && a.shown == [2, 3], "without a session the agent that registered first")
    }

    @Test(.promise("attacker.other-user")) func anAgentOfAnotherUserCannotAnswer() throws {
        let (own, other) = (Connection(prompter, 1, "a"), Connection(prompter, 2, "a"))
        let events = try show(7, user: 1, session: "a")
        for event in [
            PromptEvent.passcode(SecretBytes("1234".utf8)), .cancel, .lost, .unavailable, .visible,
            .newPasscodeEntered(SecretBytes("1234".utf8)),
        ] { other.send(event, 7) }
        #expect(events.all.isEmpty)
        other.end()
        #expect(events.all.isEmpty, "its connection has none of this user's prompts")
        own.send(.visible, 7)
        #expect(events.all == [.visible])
        own.end()
        #expect(events.all == [.visible, .lost])
    }

    @Test(.promise("attacker.agent")) func anotherSessionOfTheSameUserCannotAnswer() throws {
        let (a, b) = (Connection(prompter, 1, "a"), Connection(prompter, 1, "b"))
        let events = try show(7, user: 1, session: "a")
        b.send(.cancel, 7)
        #expect(events.all.isEmpty)
        a.send(.cancel, 7)
        #expect(events.all == [.cancel])
    }

    @Test func aSessionHasOneAgent() {
        let first = Connection(prompter, 1, "a")
        #expect(Connection(prompter, 1, "a").frames == [.refused(.taken)])
        #expect(Connection(prompter, 1, "b").frames == [.registered])
        #expect(Connection(prompter, 2, "a").frames == [.registered], "another user's session of that name")
        first.end()
        #expect(Connection(prompter, 1, "a").frames == [.registered])
    }

    @Test func promptWithoutAnAgentOfItsUserIsUnavailable() async throws {
        let other = Connection(prompter, 2, "a")
        let content = content
        let event = await withCheckedContinuation { continuation in
            let prompt = Prompt(
                id: 7, caller: "notes", processID: 1, reason: "", cancelTitle: "", fallbackTitle: "", faceUsage: "",
                sensor: .none, tier: .file, terminal: 0, userID: 1, content: content)
            prompter.show(prompt) { continuation.resume(returning: $0) }
        }
        #expect(event == .unavailable && other.shown.isEmpty)
    }

    @Test func afterItsAgentEndedAPromptGoesToAnotherSession() throws {
        let (a, b) = (Connection(prompter, 1, "a"), Connection(prompter, 1, "b"))
        a.end()
        _ = try show(7, user: 1, session: "a")
        #expect(a.shown.isEmpty && b.shown == [7])
    }

    @Test func newsIsForEveryAgentOfTheUser() throws {
        let (first, second, other) = (
            Connection(prompter, 1, "a"), Connection(prompter, 1, "b"),
            Connection(prompter, 2, "a")
        )
        prompter.announceNews(to: 1)
        #expect(first.frames == [.registered, .news] && second.frames == [.registered, .news])
        #expect(other.frames == [.registered])
    }
}
