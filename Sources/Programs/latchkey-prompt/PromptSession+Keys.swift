// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem

extension PromptSession {
    /// Reads and processes the keys that have arrived; false when the terminal has hung up.
    mutating func readKeys() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 256)
        defer { wipe(&bytes) }
        let count = read(terminal.number, &bytes, bytes.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        for byte in bytes[..<count] {
            if let key = keys.take(byte) { press(key) }
        }
        return true
    }

    mutating func press(_ key: Key) {
        switch key {
        case .escape: send(.cancel)
        // 0x03 is Ctrl-C. Ctrl-Z and Ctrl-\ are ignored: another program would read the rest of a passcode.
        case .byte(0x03): send(.interrupt)
        case .byte(let byte) where state.takesText: pressAtField(byte)
        case .byte(let byte) where [.recoveryCodeShown, .accountExpired].contains(state.content.step):
            if byte == 0x0d || byte == 0x0a { send(.codeAcknowledged) }
        case .byte(let byte) where state.asksForAnswer: pressAtQuestion(byte)
        // While entry is delayed, keys are ignored.
        case .byte where state.content.asks(for: .passcode): break
        case .byte(let byte): pressAtSensor(byte)
        }
    }

    /// A letter chooses and Enter confirms, since keys meant for another program can arrive here.
    private mutating func pressAtQuestion(_ byte: UInt8) {
        guard state.entry != .checking else { return }
        guard byte == 0x0d || byte == 0x0a else {
            state.choose(byKey: byte)
            return refresh()
        }
        guard let answer = state.chosen else { return }
        state.entry = .checking
        refresh()
        send(.codeEntered(SecretBytes(answer.rawValue.utf8)))
    }

    private func pressAtSensor(_ byte: UInt8) {
        let question = state.content.question
        if question == .scan, byte == 0x0d || byte == 0x0a { return send(.permission(true)) }
        switch byte | 0x20 {
        case UInt8(ascii: "c"): send(.cancel)
        case UInt8(ascii: "y") where question == .permission: send(.permission(true))
        case UInt8(ascii: "n") where question != .none: send(.permission(false))
        case UInt8(ascii: "p") where state.content.showsFallback: send(.fallback)
        case UInt8(ascii: "m") where state.prompt.tier == .simulated: send(.simulatedTouch(matching: true))
        case UInt8(ascii: "x") where state.prompt.tier == .simulated: send(.simulatedTouch(matching: false))
        default: break
        }
    }

    /// The event for a typed text: its meaning depends on the step in which it was typed.
    private func entered(_ text: SecretBytes) -> PromptEvent {
        switch state.content.step {
        case .recoveryCodeAsked, .recoveryCodeRepeated: .codeEntered(text)
        case .newPasscodeAsked: .newPasscodeEntered(text)
        case .newPasscodeRepeated: .newPasscodeRepeated(text)
        case .proof, .recoveryCodeShown, .accountExpired, .answerAsked, .onceAsked: .passcode(text)
        }
    }

    private mutating func pressAtField(_ byte: UInt8) {
        guard state.entry != .checking else { return }
        switch byte {
        case 0x0d, 0x0a:
            guard !typed.isEmpty else { return }
            // A code stays, so that a typing error in it can be corrected.
            let text = state.content.step == .recoveryCodeAsked ? typed.copy() : typed.take()
            guard !state.holdsBack(text) else { return refresh() }
            (state.entry, state.typedText) = (.checking, nil)
            refresh()
            return send(entered(text))
        case 0x7f, 0x08: typed.dropLast()
        case 0x15: typed.clear()
        case 0x00..<0x20: return
        default: typed.append(byte)
        }
        state.typedText = state.showsTypedText ? typed.text : nil
        state.entry = typed.isEmpty ? .nothing : .typing
        refresh()
    }
}
