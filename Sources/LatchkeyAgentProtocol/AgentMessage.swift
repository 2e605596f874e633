// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyWire

/// A message between the daemon and a program that shows a prompt: `[kind, contents]`.
package enum AgentMessage: Equatable, Sendable {
    /// From the daemon: show this prompt.
    case show(Prompt)
    /// From the daemon: change the content of the prompt.
    case update(PromptContent)
    /// From the daemon: remove the prompt.
    case dismiss
    /// From the prompt: an action of the user or a change of its state.
    case event(PromptEvent)

    /// The message encoded as CBOR.
    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        write(to: &writer)
        return writer.finish()
    }

    func write(to writer: inout CBORWriter) {
        writer.array(2)
        switch self {
        case .show(let prompt):
            writer.unsigned(0)
            writer.prompt(prompt)
        case .update(let content):
            writer.unsigned(1)
            writer.content(content)
        case .dismiss:
            writer.unsigned(2)
            writer.map(0)
        case .event(let event):
            writer.unsigned(3)
            writer.event(event)
        }
    }

    /// Decodes a payload; throws unless it is exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try payload.withBytes { (bytes) throws(WireError) -> AgentMessage in
            var reader = CBORReader(bytes)
            let message = try AgentMessage(from: &reader)
            try reader.finish()
            return message
        }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) -> AgentMessage in
            switch try reader.unsigned() {
            case 0: return .show(try reader.prompt())
            case 1: return .update(try reader.content())
            case 2:
                try reader.map { (_, _) throws(WireError) in false }
                return .dismiss
            case 3: return .event(try reader.event())
            default: throw .unknownMessage
            }
        }
    }
}

extension CBORWriter {
    fileprivate mutating func prompt(_ prompt: Prompt) {
        array(15)
        unsigned(prompt.id)
        unsigned(UInt64(prompt.purpose.rawValue))
        text(prompt.caller)
        text(prompt.program)
        text(prompt.ownName)
        integer(Int64(prompt.processID))
        text(prompt.reason)
        text(prompt.cancelTitle)
        text(prompt.fallbackTitle)
        text(prompt.faceUsage)
        unsigned(UInt64(prompt.sensor.rawValue))
        unsigned(UInt64(prompt.tier.rawValue))
        unsigned(prompt.terminal)
        unsigned(UInt64(prompt.userID))
        content(prompt.content)
    }

    fileprivate mutating func content(_ content: PromptContent) {
        array(11)
        unsigned(UInt64(content.method.rawValue))
        unsigned(UInt64(content.notice.rawValue))
        unsigned(UInt64(max(0, content.triesLeft)))
        boolean(content.showsFallback)
        boolean(content.offersCompanion)
        unsigned(UInt64(content.question.rawValue))
        unsigned(UInt64(content.step.rawValue))
        unsigned(UInt64(max(0, content.delaySeconds)))
        // The recovery code is only sent in the step that shows it.
        bytes(content.step == .recoveryCodeShown ? content.recoveryCode ?? SecretBytes([]) : SecretBytes([]))
        unsigned(UInt64(content.secret.rawValue))
        text(content.message)
    }

    fileprivate mutating func event(_ event: PromptEvent) {
        func plain(_ number: UInt64, _ writer: inout CBORWriter) {
            writer.array(1)
            writer.unsigned(number)
        }
        switch event {
        case .visible: plain(0, &self)
        case .unavailable: plain(1, &self)
        case .lost: plain(2, &self)
        case .cancel: plain(3, &self)
        case .fallback: plain(4, &self)
        case .companionConfirmed: plain(7, &self)
        case .passcode(let passcode):
            array(2)
            unsigned(5)
            bytes(passcode)
        case .simulatedTouch(let matching):
            array(2)
            unsigned(6)
            boolean(matching)
        case .permission(let isAllowed):
            array(2)
            unsigned(8)
            boolean(isAllowed)
        case .codeAcknowledged: plain(9, &self)
        case .codeEntered(let code):
            array(2)
            unsigned(10)
            bytes(code)
        case .newPasscodeEntered(let passcode):
            array(2)
            unsigned(11)
            bytes(passcode)
        case .newPasscodeRepeated(let passcode):
            array(2)
            unsigned(12)
            bytes(passcode)
        }
    }
}

extension CBORReader {
    fileprivate mutating func prompt() throws(WireError) -> Prompt {
        try tuple(15) { (reader) throws(WireError) in
            let id = try reader.unsigned()
            let purpose: PromptPurpose = try reader.number()
            let caller = try reader.text(limit: Limits.titleBytes)
            let program = try reader.text(limit: Limits.titleBytes)
            let ownName = try reader.text(limit: Limits.titleBytes)
            guard let process = Int32(exactly: try reader.integer()) else { throw .invalidValue }
            let reason = try reader.text(limit: Limits.titleBytes)
            let cancel = try reader.text(limit: Limits.titleBytes)
            let fallback = try reader.text(limit: Limits.titleBytes)
            let faceUsage = try reader.text(limit: Limits.titleBytes)
            let sensor: BiometryKind = try reader.number()
            let tier: Tier = try reader.number()
            let terminal = try reader.unsigned()
            guard let user = UInt32(exactly: try reader.unsigned()) else { throw .invalidValue }
            let content = try reader.content()
            return Prompt(
                id: id, purpose: purpose, caller: caller, program: program, ownName: ownName, processID: process,
                reason: reason,
                cancelTitle: cancel, fallbackTitle: fallback, faceUsage: faceUsage, sensor: sensor, tier: tier,
                terminal: terminal, userID: user, content: content)
        }
    }

    fileprivate mutating func content() throws(WireError) -> PromptContent {
        try tuple(11) { (reader) throws(WireError) in
            let method: AuthenticationMethod = try reader.number()
            let notice: PromptContent.Notice = try reader.number()
            guard let tries = Int(exactly: try reader.unsigned()) else { throw .invalidValue }
            let showsFallback = try reader.boolean()
            let offersCompanion = try reader.boolean()
            let question: PromptContent.Question = try reader.number()
            let step: PromptContent.Step = try reader.number()
            guard let delay = Int(exactly: try reader.unsigned()) else { throw .invalidValue }
            let code = try reader.secret(limit: Limits.recoveryCodeBytes)
            guard (code.count > 0) == (step == .recoveryCodeShown) else { throw .invalidValue }
            let secret: PromptContent.Secret = try reader.number()
            let message = try reader.text(limit: Limits.titleBytes)
            return PromptContent(
                method: method, notice: notice, triesLeft: tries, showsFallback: showsFallback,
                offersCompanion: offersCompanion, question: question, step: step,
                delaySeconds: delay, recoveryCode: code.count == 0 ? nil : code, secret: secret, message: message)
        }
    }

    fileprivate mutating func event() throws(WireError) -> PromptEvent {
        var event: PromptEvent?
        var number: UInt64?
        try array(limit: 2) { (reader) throws(WireError) in
            guard let known = number else {
                number = try reader.unsigned()
                return
            }
            switch known {
            case 5: event = .passcode(try reader.secret(limit: Limits.passcodeBytes))
            case 6: event = .simulatedTouch(matching: try reader.boolean())
            case 8: event = .permission(try reader.boolean())
            case 10: event = .codeEntered(try reader.secret(limit: Limits.recoveryCodeBytes))
            case 11: event = .newPasscodeEntered(try reader.secret(limit: Limits.passcodeBytes))
            case 12: event = .newPasscodeRepeated(try reader.secret(limit: Limits.passcodeBytes))
            default: throw .invalidValue
            }
        }
        switch (number, event) {
        case (0, nil): return .visible
        case (1, nil): return .unavailable
        case (2, nil): return .lost
        case (3, nil): return .cancel
        case (4, nil): return .fallback
        case (7, nil): return .companionConfirmed
        case (9, nil): return .codeAcknowledged
        case (_, let event?): return event
        default: throw .invalidValue
        }
    }
}
