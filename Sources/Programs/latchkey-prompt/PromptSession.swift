// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem
import LatchkeyWire
import LatchkeyWords

/// Processes keys and messages until the prompt ends.
struct PromptSession {
    /// The outcome of one turn of the loop.
    private enum Turn {
        case next
        /// The daemon dismissed the prompt or closed the connection.
        case dismissed
        /// This process received a terminating signal, or the caller was stopped.
        case stopped
        /// The terminal hung up, or another program has changed its modes: nothing may be written to it.
        case terminalLost
    }

    /// Interval of checking window size, caller and signals, in milliseconds. No signal reports a change of the
    /// window: the terminal belongs to the caller's session, not to this process's.
    private static let tickMilliseconds: CInt = 100
    /// Timeout in milliseconds after which a single escape byte is the Escape key.
    private static let escapeMilliseconds: CInt = 60

    let terminal: PromptTerminal
    private let daemon: Descriptor
    private var screen: PromptScreen
    private var lastWindow: WindowSize
    /// When the content arrived, in nanoseconds of CLOCK_BOOTTIME.
    private var contentTime = Uptime.nanoseconds
    var keys = KeyDecoder()
    var state: PromptState
    var typed = TypedSecret(capacity: Limits.passcodeBytes)

    init(_ prompt: Prompt, look: Look, words: Words, terminal: PromptTerminal, daemon: Descriptor) {
        self.terminal = terminal
        self.daemon = daemon
        state = PromptState(prompt, processID: getpid(), words: words)
        screen = PromptScreen(look)
        lastWindow = terminal.window
    }

    mutating func run() {
        terminal.write(screen.show(state, in: lastWindow))
        send(.visible)
        var turn = Turn.next
        while turn == .next { turn = takeTurn() }
        if turn == .stopped || turn == .terminalLost { send(.lost) }
        if turn != .terminalLost { terminal.write(screen.close()) }
    }

    func send(_ event: PromptEvent) { try? Frame.send(AgentMessage.event(event).encoded(), to: daemon) }

    /// Shows the current state. While the window's size is changing, `redrawAfterResize` does that.
    mutating func refresh() { if terminal.window == lastWindow { terminal.write(screen.show(state, in: lastWindow)) } }

    private mutating func takeTurn() -> Turn {
        var entries = [
            pollfd(fd: daemon.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal.number, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(
            &entries, 2, keys.isWaiting ? PromptSession.escapeMilliseconds : PromptSession.tickMilliseconds)
        if ready == 0, let key = keys.timeOut() { press(key) }
        if entries[0].revents != 0, !readMessage() { return .dismissed }
        if !terminal.isOurs { return .terminalLost }
        if entries[1].revents != 0, !readKeys() { return .terminalLost }
        if EndingSignals.isWaiting || TerminalJob(state.prompt.processID)?.isStopped == true { return .stopped }
        if ready == 0 {
            countDown()
            redrawAfterResize()
        }
        return .next
    }

    private mutating func readMessage() -> Bool {
        guard let payload = try? Frame.receive(from: daemon, until: Uptime.deadline(seconds: Limits.frameSeconds)),
            case .update(let content) = try? AgentMessage(decoding: payload)
        else { return false }
        state.show(content)
        if state.keepsTyped {
            (state.entry, state.typedText) = (.typing, typed.text)
        } else {
            typed.clear()
        }
        contentTime = Uptime.nanoseconds
        refresh()
        return true
    }

    /// Updates the remaining delay of entry each second.
    private mutating func countDown() {
        let before = state.delayLeft
        state.countDown(secondsPassed: (Uptime.nanoseconds - contentTime) / 1_000_000_000)
        if state.delayLeft != before { refresh() }
    }

    /// Redraws once the window's size has been stable for a tick: dragging a window passes through many sizes.
    private mutating func redrawAfterResize() {
        let window = terminal.window
        defer { lastWindow = window }
        if window == lastWindow { terminal.write(screen.show(state, in: window)) }
    }
}
