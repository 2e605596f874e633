// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

// The fields of prompts, which the messages of `LatchkeyAgentProtocol` contain.

extension Prompt: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            id: try tuple.field(0, \.id),
            purpose: try tuple.field(1, \.purpose),
            caller: try tuple.field(2, \.caller, .text(limit: Limits.titleBytes)),
            program: try tuple.field(3, \.program, .text(limit: Limits.titleBytes)),
            ownName: try tuple.field(4, \.ownName, .text(limit: Limits.titleBytes)),
            processID: try tuple.field(5, \.processID),
            reason: try tuple.field(6, \.reason, .text(limit: Limits.titleBytes)),
            cancelTitle: try tuple.field(7, \.cancelTitle, .text(limit: Limits.titleBytes)),
            fallbackTitle: try tuple.field(8, \.fallbackTitle, .text(limit: Limits.titleBytes)),
            faceUsage: try tuple.field(9, \.faceUsage, .text(limit: Limits.titleBytes)),
            sensor: try tuple.field(10, \.sensor),
            tier: try tuple.field(11, \.tier),
            terminal: try tuple.field(12, \.terminal),
            userID: try tuple.field(13, \.userID),
            startedBy: try tuple.field(14, \.startedBy, .text(limit: Limits.titleBytes)),
            content: try tuple.field(15, \.content))
    }
}

extension PromptContent: WireValue {
    package func write(to writer: inout CBORWriter) { ContentFields(content: self).write(to: &writer) }

    package init(from reader: inout CBORReader) throws(WireError) {
        self = try ContentFields(from: &reader).content
        guard (recoveryCode != nil) == (step == .recoveryCodeShown) else { throw .invalidValue }
    }
}

/// The fields of a content; `PromptContent` compares those that depend on each other.
private struct ContentFields: WireTuple {
    var content: PromptContent

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        var content = PromptContent(
            method: try tuple.field(0, \.content.method),
            notice: try tuple.field(1, \.content.notice),
            triesLeft: try tuple.field(2, \.content.triesLeft, CountShape()),
            showsFallback: try tuple.field(3, \.content.showsFallback),
            question: try tuple.field(4, \.content.question),
            step: try tuple.field(5, \.content.step),
            delaySeconds: try tuple.field(6, \.content.delaySeconds, CountShape()))
        content.recoveryCode = try tuple.field(7, \.shownCode, CodeShape())
        content.secret = try tuple.field(8, \.content.secret)
        content.message = try tuple.field(9, \.content.message, .phrase)
        return Self(content: content)
    }

    /// The recovery code, which is only sent in the step that shows it.
    private var shownCode: SecretBytes? { content.step == .recoveryCodeShown ? content.recoveryCode : nil }
}

/// A recovery code, or no bytes.
private struct CodeShape: WireShape {
    func write(_ value: SecretBytes?, to writer: inout CBORWriter) { writer.bytes(value ?? SecretBytes([])) }

    func read(from reader: inout CBORReader) throws(WireError) -> SecretBytes? {
        let code = try reader.secret(limit: Limits.recoveryCodeBytes)
        return code.count == 0 ? nil : code
    }
}

extension PromptContent.Notice: ClosedSet {}
extension PromptContent.Question: ClosedSet {}
extension PromptContent.Step: ClosedSet {}
extension PromptContent.Secret: ClosedSet {}

// MARK: - Events

/// Numbers of events; part of the wire format.
private enum EventKind: UInt8, ClosedSet {
    case visible = 0
    case unavailable = 1
    case lost = 2
    case cancel = 3
    case fallback = 4
    case passcode = 5
    case simulatedTouch = 6
    case permission = 8
    case codeAcknowledged = 9
    case codeEntered = 10
    case newPasscodeEntered = 11
    case newPasscodeRepeated = 12
    case interrupt = 13
}

extension PromptEvent: WireValue {
    /// Writes `[kind]` or `[kind, contents]`.
    package func write(to writer: inout CBORWriter) {
        switch self {
        case .visible: writer.event(.visible)
        case .unavailable: writer.event(.unavailable)
        case .lost: writer.event(.lost)
        case .cancel: writer.event(.cancel)
        case .interrupt: writer.event(.interrupt)
        case .fallback: writer.event(.fallback)
        case .codeAcknowledged: writer.event(.codeAcknowledged)
        case .passcode(let passcode): writer.event(.passcode, passcode, .passcode)
        case .simulatedTouch(let isMatching): writer.event(.simulatedTouch, isMatching, OwnShape())
        case .permission(let isAllowed): writer.event(.permission, isAllowed, OwnShape())
        case .codeEntered(let code): writer.event(.codeEntered, code, .code)
        case .newPasscodeEntered(let passcode): writer.event(.newPasscodeEntered, passcode, .passcode)
        case .newPasscodeRepeated(let passcode): writer.event(.newPasscodeRepeated, passcode, .passcode)
        }
    }

    package init(from reader: inout CBORReader) throws(WireError) {
        let count = try reader.openArray(limit: 2)
        defer { reader.close() }
        guard count > 0 else { throw .invalidValue }
        switch (try EventKind(from: &reader), count) {
        case (.visible, 1): self = .visible
        case (.unavailable, 1): self = .unavailable
        case (.lost, 1): self = .lost
        case (.cancel, 1): self = .cancel
        case (.interrupt, 1): self = .interrupt
        case (.fallback, 1): self = .fallback
        case (.codeAcknowledged, 1): self = .codeAcknowledged
        case (.passcode, 2): self = .passcode(try reader.value(.passcode))
        case (.simulatedTouch, 2): self = .simulatedTouch(matching: try reader.value())
        case (.permission, 2): self = .permission(try reader.value())
        case (.codeEntered, 2): self = .codeEntered(try reader.value(.code))
        case (.newPasscodeEntered, 2): self = .newPasscodeEntered(try reader.value(.passcode))
        case (.newPasscodeRepeated, 2): self = .newPasscodeRepeated(try reader.value(.passcode))
        default: throw .invalidValue
        }
    }
}

extension WireShape where Self == SecretShape {
    fileprivate static var passcode: Self { .secret(limit: Limits.passcodeBytes) }
    fileprivate static var code: Self { .secret(limit: Limits.recoveryCodeBytes) }
}

extension CBORWriter {
    fileprivate mutating func event(_ kind: EventKind) {
        array(1)
        kind.write(to: &self)
    }

    fileprivate mutating func event<Shape: WireShape>(_ kind: EventKind, _ contents: Shape.Value, _ shape: Shape) {
        array(2)
        kind.write(to: &self)
        shape.write(contents, to: &self)
    }
}

// MARK: - For the messages that contain them

package struct PromptContentShape: WireShape {
    package func write(_ value: PromptContent, to writer: inout CBORWriter) { value.write(to: &writer) }
    package func read(from reader: inout CBORReader) throws(WireError) -> PromptContent { try reader.value() }
}

package struct PromptEventShape: WireShape {
    package func write(_ value: PromptEvent, to writer: inout CBORWriter) { value.write(to: &writer) }
    package func read(from reader: inout CBORReader) throws(WireError) -> PromptEvent { try reader.value() }
}

extension WireShape where Self == PromptContentShape {
    package static var promptContent: PromptContentShape { PromptContentShape() }
}

extension WireShape where Self == PromptEventShape {
    package static var promptEvent: PromptEventShape { PromptEventShape() }
}
