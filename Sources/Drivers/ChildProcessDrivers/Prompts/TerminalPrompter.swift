// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeyPrompts
import LatchkeySeams
package import LatchkeySystem
import Synchronization

/// Shows prompts on the caller's own terminal, each in a separate process.
///
/// The terminal is the one that the kernel reports for the caller's process, and only if it belongs to the caller's
/// user. It is opened by the prompt's process, as that user. The caller determines the appearance: the variables of `Look`
/// are passed on from its environment, and nothing of the daemon's environment.
///
/// A user can stop the process of a prompt, and its terminal. So each prompt has a thread, which alone sends and waits, with
/// deadlines, and a terminal whose prompt was killed is restored by another process of the user.
package final class TerminalPrompter: Prompter {
    private let program: String
    private let identity: (@Sendable (UInt32) -> UserIdentity?)?
    private let prompts = PromptTable<ShownPrompt>()
    private let refusals = RefusalThread()

    /// Creates a prompter.
    ///
    /// - Parameters:
    ///   - program: the path of `latchkey-prompt`.
    ///   - identity: returns as which user and group prompts of a user run and open the terminal; a prompt for which it
    ///     returns nil or another user is unavailable. Without it prompts run as this process does.
    package init(program: String, asUser identity: (@Sendable (UInt32) -> UserIdentity?)? = nil) {
        (self.program, self.identity) = (program, identity)
    }

    /// Starts the process of a prompt; nil if there is no place for it.
    private func start(_ prompt: Prompt) -> ShownPrompt? {
        let own = UserIdentity(userID: geteuid(), groupID: getegid())
        guard let user = identity.map({ $0(prompt.userID) }) ?? own, user.userID == prompt.userID else { return nil }
        // An error means that the prompt is `unavailable`, which the caller reports.
        return try? ShownPrompt(
            program: program, device: prompt.terminal, user: user,
            environment: Environment.entries(of: prompt.processID, Look.variables))
    }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        prompts.begin(prompt.id)
        let isStarted = Processes.startThread { [self] in
            guard prompts.isWanted(prompt.id) else { return }
            guard let shown = start(prompt) else {
                if prompts.end(prompt.id) { events(.unavailable) }
                return
            }
            let isWanted = prompts.adopt(prompt.id, shown) { content in
                shown.send(.show(prompt))
                if let content { shown.send(.update(content)) }
            }
            guard isWanted else { return shown.abandon() }
            shown.run(events)
            prompts.end(prompt.id)
        }
        guard !isStarted else { return }
        // Without a thread the prompt must not run on this one, which may serve other connections.
        refusals.submit { [self] in
            if prompts.end(prompt.id) { events(.unavailable) }
        }
    }

    package func update(_ id: UInt64, _ content: PromptContent) { prompts.update(id, content)?.send(.update(content)) }

    package func dismiss(_ id: UInt64) { dismiss(id) {} }

    package func dismiss(_ id: UInt64, _ gone: @escaping @Sendable () -> Void) {
        guard let shown = prompts.dismiss(id) else { return gone() }
        shown.dismiss(gone)
    }
}

/// A thread that exists before it is needed: it reports prompts for which no thread could be created, since events must not
/// come from within `show`.
private final class RefusalThread: Sendable {
    private let work = Mutex<[@Sendable () -> Void]>([])
    /// Nil if the thread could not be created either: a refused prompt then ends with its evaluation's deadline.
    private let wakeUp: WakeUp?

    init() {
        let wakeUp = try? WakeUp()  // Nil as above.
        self.wakeUp = wakeUp
        guard let wakeUp else { return }
        _ = Processes.startThread { [weak self] in
            while (try? wakeUp.descriptor.wait(for: POLLIN, until: nil)) == true {  // It only fails without memory.
                wakeUp.clear()
                guard let self else { return }
                self.performAll()
            }
        }
    }

    deinit { wakeUp?.signal() }

    func submit(_ body: @escaping @Sendable () -> Void) {
        work.withLock { $0.append(body) }
        wakeUp?.signal()
    }

    private func performAll() {
        let all = work.withLock { work in
            defer { work = [] }
            return work
        }
        for body in all { body() }
    }
}

/// One prompt and its process. Everything that can wait for the process runs on the thread that calls `run`.
private final class ShownPrompt: Sendable {
    private struct State: Sendable {
        /// What the process has not been sent.
        var outgoing: [AgentMessage] = []
        /// When a dismissed process is killed, in nanoseconds of `Uptime`; nil before the dismissal.
        var deadline: Int64?
        /// Called when the place is free.
        var gone: [@Sendable () -> Void] = []
        var isOver = false
    }

    /// Seconds in which a process takes a message, and removes its prompt after the dismissal.
    private static let secondsToAct: Int64 = 2
    private let program: String
    private let user: UserIdentity
    private let environment: [String]
    private let process: ChildProcess
    private let terminal: OpenedTerminal
    private let socket: Descriptor
    private let wakeUp: WakeUp
    private let state = Mutex(State())

    /// Starts the process, as the user who owns the terminal.
    init(program: String, device: UInt64, user: UserIdentity, environment: [String]) throws(SystemError) {
        let (near, far) = try Sockets.pair()
        wakeUp = try WakeUp()
        (process, terminal) = try ChildProcess.start(
            program, [], environment: environment, onTerminal: device, as: user, channel: far)
        self.program = program
        self.user = user
        self.environment = environment
        socket = near
    }

    // MARK: - For every thread; none of these blocks

    /// Sends a message in turn. A process that accepts none has ended or is ended, which `run` reports.
    func send(_ message: AgentMessage) {
        state.withLock { state in
            // The process needs only the newest content, so a process that takes no messages collects none.
            if case .update = message, case .update? = state.outgoing.last { state.outgoing.removeLast() }
            state.outgoing.append(message)
        }
        wakeUp.signal()
    }

    /// Removes the prompt; after two seconds its process is killed.
    ///
    /// - Parameter gone: called when the terminal has been restored.
    func dismiss(_ gone: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            guard !state.isOver else { return true }
            state.gone.append(gone)
            if state.deadline == nil {
                state.deadline = Uptime.deadline(seconds: Self.secondsToAct)
                state.outgoing.append(.dismiss)
            }
            return false
        }
        if isOver { gone() } else { wakeUp.signal() }
    }

    // MARK: - On the thread of the prompt

    /// Reports the user's actions until the process has ended and the terminal is restored.
    func run(_ events: @escaping @Sendable (PromptEvent) -> Void) {
        while let event = nextEvent() {
            if state.withLock({ $0.deadline == nil }) { events(event) }
        }
        Sockets.shutDown(socket)
        let deadline = state.withLock { $0.deadline } ?? Uptime.deadline(seconds: Self.secondsToAct)
        // A process that exited normally has restored the terminal, and a shell may already have set its own modes.
        if process.end(by: deadline) != .exited(0) { restoreTerminal() }
        let (isDismissed, gone) = state.withLock { state in
            defer { state.gone = [] }
            state.isOver = true
            return (state.deadline != nil, state.gone)
        }
        if !isDismissed { events(.lost) }
        for callback in gone { callback() }
    }

    /// Ends a process that was sent no prompt and so has not changed the terminal.
    func abandon() {
        Sockets.shutDown(socket)
        process.end(within: Self.secondsToAct)
    }

    /// Waits for the next event, and sends messages meanwhile; nil at the end of the process or of its time.
    private func nextEvent() -> PromptEvent? {
        while true {
            let (message, deadline) = state.withLock { state in
                (state.outgoing.isEmpty ? nil : state.outgoing.removeFirst(), state.deadline)
            }
            if let message {
                guard sendNow(message, until: deadline ?? Uptime.deadline(seconds: Self.secondsToAct)) else {
                    return nil
                }
                continue
            }
            // Without memory for poll(2) the prompt is lost.
            guard let ready = try? Descriptor.waitForInput([socket, wakeUp.descriptor], until: deadline),
                ready.contains(true)
            else { return nil }
            wakeUp.clear()
            guard ready[0] else { continue }
            let end = deadline ?? Uptime.deadline(seconds: Self.secondsToAct)
            // A process that ended, sent an invalid message or only a part of one loses the prompt, which ends the
            // evaluation.
            guard let payload = try? Frame.receive(from: socket, until: end),
                case .event(let event) = try? AgentMessage(decoding: payload)  // As above.
            else { return nil }
            return event
        }
    }

    private func sendNow(_ message: AgentMessage, until deadline: Int64) -> Bool {
        do throws(SystemError) {
            try Frame.bytes(message.encoded()).withBytes { (bytes) throws(SystemError) in
                try Sockets.send(socket, all: bytes, until: deadline)
            }
            return true
        } catch {
            // A process that has ended may have sent an event before, which is read next.
            return error.code != ETIMEDOUT
        }
    }

    /// Has the modes and the screen restored by a process of the user: writing to a terminal that the user has stopped
    /// blocks, and the user may not block this process.
    private func restoreTerminal() {
        let modes = withUnsafeBytes(of: terminal.modes) { bytes in
            bytes.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
        }
        // If it cannot be started, the terminal remains as it is, as after a SIGKILL of the daemon.
        let restorer = try? ChildProcess.start(
            program, ["--restore", modes], environment: environment,
            descriptors: [terminal.descriptor, terminal.descriptor, nil], as: user)
        restorer?.end(within: Self.secondsToAct)
    }
}
