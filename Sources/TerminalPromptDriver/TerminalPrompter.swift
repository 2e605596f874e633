// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyAgentProtocol
package import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyTransport
import Synchronization
import TerminalPromptLayout

/// Shows prompts on the caller's own terminal, through a process of its own for each.
///
/// The terminal is the one the kernel names for the caller's process, and only if it belongs to the caller's user.
/// Its modes are put back however the prompt ends, kill -9 included. How the prompt looks is the caller's wish: of its
/// environment the variables of `Look` are passed on, and nothing of the daemon's.
package final class TerminalPrompter: Prompter {
    private let program: String
    private let prompts = PromptTable<ShownPrompt>()

    /// Uses the program `latchkey-prompt` at that path.
    package init(program: String) { self.program = program }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        let program = program
        prompts.begin(prompt.id)
        Processes.detachThread { [self] in
            guard prompts.isWanted(prompt.id) else { return }
            guard let terminal = Terminal.open(device: prompt.terminal, ownedBy: prompt.userID),
                let shown = ShownPrompt(
                    program: program, terminal: terminal,
                    environment: Environment.entries(of: prompt.processID, Look.variables))
            else {
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

/// One prompt, its process and the thread that listens to it.
private final class ShownPrompt: @unchecked Sendable {
    // Everything is constant or locked.
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

    init?(program: String, terminal: Terminal, environment: [String]) {
        // Without descriptors or a process there is no place for the prompt, and the caller of this says so.
        guard let modes = terminal.modes(), let (near, far) = try? Sockets.pair(), let pair = try? Sockets.pair(),
            let process = try? Processes.spawn(  // The same.
                program, [], environment: environment,
                descriptors: [terminal.descriptor, terminal.descriptor, nil, far], newSession: true)
        else { return nil }
        self.terminal = terminal
        self.modes = modes
        self.environment = environment
        self.process = process
        socket = near
        finished = (pair.0, pair.1)
    }

    /// Reports what the person does, until the process is gone. Called on the thread that made it.
    func run(_ events: @escaping @Sendable (PromptEvent) -> Void) {
        while !isFinished.withLock({ $0 }), let event = nextEvent(until: nil) {
            if !isDismissed.withLock({ $0 }) { events(event) }
        }
        finish()
        if !isDismissed.withLock({ $0 }) { events(.lost) }
    }

    /// Ends a process that was told of no prompt, and so has not touched the terminal.
    func abandon() {
        isFinished.withLock { $0 = true }
        shutdown(socket.number, CInt(SHUT_RDWR))
        Processes.wait(process, killAfter: Self.secondsToLeave)
    }

    private func nextEvent(until deadline: Int64?) -> PromptEvent? {
        // A prompt that is gone, or says what cannot be read, is lost: the evaluation ends.
        guard let payload = try? Frame.receive(from: socket, until: deadline),
            case .event(let event) = try? AgentMessage(decoding: payload)  // The same.
        else { return nil }
        return event
    }

    // A prompt that takes no message is gone, which `run` reports.
    func send(_ message: AgentMessage) { try? Frame.send(message.encoded(), to: socket) }

    /// Takes the prompt away and waits, for a short time, until the terminal is as it was.
    func dismiss() {
        isDismissed.withLock { $0 = true }
        send(.dismiss)
        let deadline = Uptime.deadline(seconds: Self.secondsToLeave)
        if pthread_equal(thread, pthread_self()) != 0 {
            // Called from within `run`: nobody else would read the end.
            while nextEvent(until: deadline) != nil {}
            finish()
        } else {
            // A wait that fails kills nothing: `run` waits for the process.
            let isOver = try? finished.far.wait(for: POLLIN, until: deadline)
            if isOver == false { kill(process, SIGKILL) }
        }
    }

    /// Does what the prompt could not do any more: modes, cursor, a line of its own for whoever writes next.
    private func restoreTerminal() {
        let look = Look(terminalIsUTF8: false, callerReadsKeys: modes.c_lflag & tcflag_t(ICANON) == 0) { name in
            environment.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        terminal.restore(modes)
        terminal.write(Block.end(look) + "\r\n")
    }

    /// Ends the process if it has not ended by itself, and puts the terminal's modes back; once.
    private func finish() {
        let isFirst = isFinished.withLock { isFinished in
            defer { isFinished = true }
            return !isFinished
        }
        guard isFirst else { return }
        shutdown(socket.number, CInt(SHUT_RDWR))
        // A prompt that ended by itself has handed the terminal back, perhaps to a shell that has set modes of its own.
        if Processes.wait(process, killAfter: Self.secondsToLeave) != 0 { restoreTerminal() }
        shutdown(finished.near.number, CInt(SHUT_RDWR))
    }
}
