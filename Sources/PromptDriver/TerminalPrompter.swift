// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyAgentProtocol
package import LatchkeyModel
import LatchkeySeams
package import LatchkeySystem
import LatchkeyTransport
import Synchronization
import TerminalPromptLayout

/// Shows prompts on the caller's own terminal, each in a separate process.
///
/// The terminal is the one that the kernel reports for the caller's process, and only if it belongs to the caller's
/// user. Its modes are restored however the prompt's process ends, even by SIGKILL. The caller determines the
/// appearance: the variables of `Look` are passed on from its environment, and nothing of the daemon's environment.
package final class TerminalPrompter: Prompter {
    private let program: String
    private let identity: (@Sendable (UInt32) -> UserIdentity?)?
    private let prompts = PromptTable<ShownPrompt>()

    /// Creates a prompter.
    ///
    /// - Parameters:
    ///   - program: the path of `latchkey-prompt`.
    ///   - identity: returns as which user and group prompts of a user run and open the terminal; a prompt for which it
    ///     returns nil or another user is unavailable. Without it, and for the user of this process, prompts run as this
    ///     process does.
    package init(program: String, asUser identity: (@Sendable (UInt32) -> UserIdentity?)? = nil) {
        self.program = program
        self.identity = identity
    }

    /// Starts the process of a prompt; nil if there is no place for it.
    private func start(_ prompt: Prompt) -> ShownPrompt? {
        let environment = Environment.entries(of: prompt.processID, Look.variables)
        if let identity {
            guard let user = identity(prompt.userID), user.userID == prompt.userID else { return nil }
            guard user.userID == geteuid() else {
                return ShownPrompt(
                    program: program, device: prompt.terminal, identity: user, environment: environment)
            }
        }
        guard let terminal = Terminal.open(device: prompt.terminal, ownedBy: prompt.userID) else { return nil }
        return ShownPrompt(program: program, terminal: terminal, environment: environment)
    }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        prompts.begin(prompt.id)
        Processes.detachThread { [self] in
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
    }

    package func update(_ id: UInt64, _ content: PromptContent) {
        prompts.update(id, content)?.send(.update(content))
    }

    package func dismiss(_ id: UInt64) { prompts.dismiss(id)?.dismiss() }
}

/// One prompt, its process and the thread that receives its events.
private final class ShownPrompt: @unchecked Sendable {
    // Every stored property is constant or a Mutex.
    private static let secondsToLeave: Int64 = 2
    private let terminal: Terminal
    private let modes: termios
    private let environment: [String]
    private let socket: Descriptor
    private let process: pid_t
    private let thread = pthread_self()
    private let isFinished = Mutex(false)
    private let isDismissed = Mutex(false)
    private let finished: (near: Descriptor, far: Descriptor)

    /// Starts the process as the user of this one.
    convenience init?(program: String, terminal: Terminal, environment: [String]) {
        self.init(environment: environment) { (far) throws(SystemError) in
            (
                try Processes.spawn(
                    program, [], environment: environment,
                    descriptors: [terminal.descriptor, terminal.descriptor, nil, far], newSession: true), terminal
            )
        }
    }

    /// Starts the process as another user, who owns the terminal.
    convenience init?(program: String, device: UInt64, identity: UserIdentity, environment: [String]) {
        self.init(environment: environment) { (far) throws(SystemError) in
            try Processes.start(
                program, [], environment: environment, onTerminal: device, as: identity, channel: far)
        }
    }

    private init?(
        environment: [String], start: (Descriptor) throws(SystemError) -> (process: pid_t, terminal: Terminal)
    ) {
        // Without descriptors or a process the prompt is `unavailable`, which the caller reports.
        guard let (near, far) = try? Sockets.pair(), let pair = try? Sockets.pair(),
            let started = try? start(far)  // nil here too means `unavailable`.
        else { return nil }
        // The process changes the modes only after it has received the prompt.
        guard let modes = started.terminal.modes() else {
            kill(started.process, SIGKILL)
            Processes.wait(started.process)
            return nil
        }
        (process, terminal) = started
        self.modes = modes
        self.environment = environment
        socket = near
        finished = (pair.0, pair.1)
    }

    /// Reports the user's actions until the process has ended. Must be called on the thread that created this object.
    func run(_ events: @escaping @Sendable (PromptEvent) -> Void) {
        while !isFinished.withLock({ $0 }), let event = nextEvent(until: nil) {
            if !isDismissed.withLock({ $0 }) { events(event) }
        }
        finish()
        if !isDismissed.withLock({ $0 }) { events(.lost) }
    }

    /// Ends a process that was sent no prompt and so has not changed the terminal.
    func abandon() {
        isFinished.withLock { $0 = true }
        shutdown(socket.number, CInt(SHUT_RDWR))
        Processes.wait(process, killAfter: Self.secondsToLeave)
    }

    private func nextEvent(until deadline: Int64?) -> PromptEvent? {
        // A process that ended or sent an invalid message loses the prompt, which ends the evaluation.
        guard let payload = try? Frame.receive(from: socket, until: deadline),
            case .event(let event) = try? AgentMessage(decoding: payload)  // nil for an invalid message.
        else { return nil }
        return event
    }

    // A process that accepts no message has ended, which `run` reports.
    func send(_ message: AgentMessage) { try? Frame.send(message.encoded(), to: socket) }

    /// Removes the prompt and waits at most two seconds until the terminal has been restored.
    func dismiss() {
        isDismissed.withLock { $0 = true }
        send(.dismiss)
        let deadline = Uptime.deadline(seconds: Self.secondsToLeave)
        if pthread_equal(thread, pthread_self()) != 0 {
            // Called from an event handler within `run`, so no other thread would read the end of the stream.
            while nextEvent(until: deadline) != nil {}
            finish()
        } else {
            // If this wait fails, nothing is killed: `run` waits for the process.
            let isOver = try? finished.far.wait(for: POLLIN, until: deadline)
            if isOver == false { kill(process, SIGKILL) }
        }
    }

    /// Restores what the process could not restore: modes, cursor, and a new line for the program that writes next.
    private func restoreTerminal() {
        let look = Look(terminalIsUTF8: false, callerReadsKeys: modes.c_lflag & tcflag_t(ICANON) == 0) { name in
            environment.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        terminal.restore(modes)
        terminal.write(Block.end(look) + "\r\n")
    }

    /// Ends the process if it still runs, and restores the terminal if it did not do so. Only the first call has an
    /// effect.
    private func finish() {
        let isFirst = isFinished.withLock { isFinished in
            defer { isFinished = true }
            return !isFinished
        }
        guard isFirst else { return }
        shutdown(socket.number, CInt(SHUT_RDWR))
        // A process that exited normally has restored the terminal, and a shell may already have set its own modes.
        if Processes.wait(process, killAfter: Self.secondsToLeave) != 0 { restoreTerminal() }
        shutdown(finished.near.number, CInt(SHUT_RDWR))
    }
}
