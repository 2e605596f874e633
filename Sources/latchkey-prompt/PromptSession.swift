// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyAgentProtocol
import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport
import LatchkeyWire

/// Reads keys and messages until the daemon says that the prompt is over.
struct PromptSession {
    private let prompt: Prompt
    private let terminal: Terminal
    private let daemon: Descriptor
    private var content: PromptContent
    private var typed = TypedSecret(capacity: Limits.passcodeBytes)
    private let text: PromptText

    init(_ prompt: Prompt, terminal: Terminal, daemon: Descriptor) {
        self.prompt = prompt
        self.terminal = terminal
        self.daemon = daemon
        content = prompt.content
        text = PromptText(prompt, columns: terminal.columns)
    }

    mutating func run() {
        show(text.opening() + text.ask(content))
        tell(.visible)
        while true {
            var entries = [
                pollfd(fd: daemon.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: terminal.descriptor.number, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&entries, 2, -1) > 0 else {
                if errno == EINTR { continue }
                return
            }
            if entries[0].revents != 0, !readMessage() { break }
            if entries[1].revents != 0, !readKeys() {
                // The terminal hung up: nobody is there.
                tell(.lost)
                return
            }
        }
        show(text.closing())
    }

    private func show(_ lines: String) {
        let bytes = Array(lines.utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }

    private func tell(_ event: PromptEvent) { try? Frame.send(AgentMessage.event(event).encoded(), to: daemon) }

    private mutating func readMessage() -> Bool {
        guard let payload = try? Frame.receive(from: daemon, until: Uptime.deadline(seconds: Limits.frameSeconds)),
            let message = try? AgentMessage(decoding: payload)
        else { return false }
        guard case .update(let content) = message else { return false }
        if content.method != self.content.method { typed.clear() }
        self.content = content
        show(text.notice(content) + text.ask(content))
        return true
    }

    // MARK: - Keys

    private mutating func readKeys() -> Bool {
        var keys = [UInt8](repeating: 0, count: 256)
        defer { wipe(&keys) }
        let count = read(STDIN_FILENO, &keys, keys.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        // An escape sequence (an arrow key, say) arrives in one piece and is no wish to cancel.
        if count > 1, keys[0] == 0x1b { return true }
        for key in keys[..<count] { press(key) }
        return true
    }

    private mutating func press(_ key: UInt8) {
        if key == 0x03 || key == 0x1b { return tell(.cancel) }
        switch content.method {
        case .biometry, .companion: pressAtSensor(key)
        case .passcode: pressAtPasscode(key)
        }
    }

    private func pressAtSensor(_ key: UInt8) {
        switch key | 0x20 {
        case UInt8(ascii: "c"): tell(.cancel)
        case UInt8(ascii: "p") where content.showsFallback: tell(.fallback)
        case UInt8(ascii: "m") where prompt.tier == .simulated: tell(.simulatedTouch(matching: true))
        case UInt8(ascii: "x") where prompt.tier == .simulated: tell(.simulatedTouch(matching: false))
        default: break
        }
    }

    private mutating func pressAtPasscode(_ key: UInt8) {
        switch key {
        case 0x0d, 0x0a:
            guard !typed.isEmpty else { return }
            show("\r\n")
            tell(.passcode(typed.take()))
        case 0x7f, 0x08: typed.dropLast()
        case 0x15: typed.clear()
        case 0x00..<0x20: break
        default: typed.append(key)
        }
    }
}
