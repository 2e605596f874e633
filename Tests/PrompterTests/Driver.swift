// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Dispatch
import Glibc
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import Testing

/// A driver that the contract tests of `Prompter` run against, with the program or script that shows its prompts.
struct Driver: Sendable, CustomTestStringConvertible {
    struct Made: Sendable {
        let prompter: any Prompter
        /// Whether prompts have a place where they are shown.
        let isAvailable: Bool
        /// Cancels a prompt as the user would; nil if nothing can answer.
        let cancel: (@Sendable (_ prompt: UInt64) -> Void)?
    }

    let name: String
    /// Whether events come after the call that shows the prompt, as the seam demands; see `Prompter`.
    let isDeferred: Bool
    /// Whether a user can answer a prompt.
    var isAnswered = false
    let make: @Sendable () throws -> Made

    var testDescription: String { name }

    /// All drivers. A new driver is added here and must pass every test unchanged.
    ///
    /// The prompts of the simulated drivers are visible at once, so that a script runs on the thread of the test.
    static let all = [
        Driver(name: "simulated", isDeferred: false) {
            Made(prompter: SimulatedPrompter(), isAvailable: true, cancel: nil)
        },
        Driver(name: "scripted", isDeferred: false, isAnswered: true) {
            let world = simulatedWorld()
            return Made(prompter: ScriptedPrompter(SimulatedPrompter(), world: world), isAvailable: true) { _ in
                world.perform(.cancel)
            }
        },
        Driver(name: "queued actions, none queued", isDeferred: true) {
            let queue = SerialWorkQueue { false }
            return Made(
                prompter: QueuedActionPrompter(simulatedWorld()) { queue.submit(.any, $0) }, isAvailable: false,
                cancel: nil)
        },
        Driver(name: "agent, none registered", isDeferred: true) {
            Made(prompter: AgentPrompter(), isAvailable: false, cancel: nil)
        },
        Driver(name: "agent", isDeferred: true, isAnswered: true) { try agent() },
        Driver(name: "terminal, caller without one", isDeferred: true) {
            Made(prompter: TerminalPrompter(program: "/nonexistent"), isAvailable: false, cancel: nil)
        },
    ]

    private static func simulatedWorld() -> SimulatedWorld {
        SimulatedWorld(WorldState(), clock: VirtualClock(), random: SystemRandomSource(), user: 1000) { _ in }
    }

    /// Agents that answer over their connections, on a thread of their own. Prompt 2 is shown by another agent than the
    /// others: each shows one prompt at a time.
    private static func agent() throws -> Made {
        let prompter = AgentPrompter { prompt in session(prompt.id) }
        let queue = SerialWorkQueue { false }
        let registered = Mutex<[String: RegisteredAgent]>([:])
        let answer: @Sendable (UInt64, PromptEvent) -> Void = { prompt, event in
            queue.submit(.any) {
                let frame = AgentFrame.message(prompt: prompt, .event(event)).encoded()
                _ = registered.withLock { $0[session(prompt)] }?.received(frame)
            }
        }
        for session in ["", "2"] {
            let agent = prompter.register(user: geteuid(), session: session) { payload in
                guard case .message(let prompt, .show)? = try? AgentFrame(decoding: payload) else { return }
                answer(prompt, .visible)
            }
            let made = try #require(agent)
            registered.withLock { $0[session] = made }
        }
        return Made(prompter: prompter, isAvailable: true) { answer($0, .cancel) }
    }

    /// The login session of the program of a prompt.
    private static func session(_ prompt: UInt64) -> String { prompt == 2 ? "2" : "" }
}

/// Collects the events of a prompt.
final class Events: Sendable {
    private let list = Mutex<[PromptEvent]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    var all: [PromptEvent] { list.withLock { $0 } }

    @Sendable func add(_ event: PromptEvent) {
        list.withLock { $0.append(event) }
        arrivals.signal()
    }

    /// Waits for one more event; false after ten seconds.
    func wait() -> Bool { arrivals.wait(timeout: .now() + 10) == .success }
}

extension Prompt {
    /// A prompt for a caller without a terminal.
    static func numbered(_ id: UInt64) -> Prompt {
        Prompt(
            id: id, caller: "app", processID: getpid(), reason: "test", cancelTitle: "Cancel", fallbackTitle: "",
            faceUsage: "", sensor: .touchID, tier: .simulated, terminal: 0, userID: geteuid(),
            content: PromptContent(method: .biometry, notice: .none, triesLeft: 3, showsFallback: false))
    }
}
