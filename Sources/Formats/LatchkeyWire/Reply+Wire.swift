// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Numbers of replies; part of the wire format.
private enum ReplyKind: UInt8, ClosedSet {
    case failure = 0
    case done = 1
    case welcome = 2
    case status = 3
    case context = 4
    case items = 5
    case policy = 6
    case simulated = 7
    case environment = 8
    case facePermissions = 9
    case transcript = 10
    case exported = 11
    case proven = 12
    case imported = 13
    case log = 20
    case check = 21
    case enclaveKey = 30
    case enclaveResult = 31
    case enrolment = 32
    case attestationMessage = 33
    case ticket = 40
    case migrated = 41
    case groups = 42
    case recovered = 43
    case migrationWouldLeaveItems = 44
}

extension Reply: WireValue {
    /// Writes `[kind, contents]`.
    package func write(to writer: inout CBORWriter) {
        switch self {
        case .failure(let failure): writer.reply(.failure, failure)
        case .done: writer.reply(.done, NoFields())
        case .welcome(let welcome): writer.reply(.welcome, welcome)
        case .status(let report): writer.reply(.status, report)
        case .context(let handle): writer.reply(.context, handle)
        case .items(let items, let more): writer.reply(.items, ItemPage(more: more, items: items))
        case .policy(let answer): writer.reply(.policy, answer)
        case .simulated(let delivered): writer.reply(.simulated, delivered)
        case .environment(let report): writer.reply(.environment, report)
        case .facePermissions(let answers): writer.reply(.facePermissions, answers, .facePermissions)
        case .transcript(let lines): writer.reply(.transcript, lines, .transcript)
        case .exported(let exported): writer.reply(.exported, exported)
        case .proven(let methods): writer.reply(.proven, methods, MethodsShape())
        case .imported(let imported): writer.reply(.imported, imported)
        case .log(let page): writer.reply(.log, page)
        case .check(let report): writer.reply(.check, report)
        case .enclaveKey(let key): writer.reply(.enclaveKey, key)
        case .enclaveResult(let result): writer.reply(.enclaveResult, result, .enclaveResult)
        case .enrolment(let enrolment): writer.reply(.enrolment, enrolment)
        case .attestationMessage(let message):
            writer.reply(.attestationMessage, message, .attestationMessage)
        case .ticket(let ticket): writer.reply(.ticket, ticket, .ticket)
        case .migrated(let report): writer.reply(.migrated, report)
        case .migrationWouldLeaveItems(let report): writer.reply(.migrationWouldLeaveItems, report)
        case .recovered(let recovered): writer.reply(.recovered, recovered)
        case .groups(let groups): writer.reply(.groups, groups, .groupNames)
        }
    }

    package init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) -> Reply in
            switch try ReplyKind(from: &reader) {
            case .failure: return .failure(try reader.value())
            case .done: return try reader.noFields(.done)
            case .welcome: return .welcome(try reader.value())
            case .status: return .status(try reader.value())
            case .context: return .context(try reader.value())
            case .items:
                let page = try ItemPage(from: &reader)
                return .items(page.items, more: page.more)
            case .policy: return .policy(try reader.value())
            case .simulated: return .simulated(delivered: try reader.value())
            case .environment: return .environment(try reader.value())
            case .facePermissions: return .facePermissions(try reader.value(.facePermissions))
            case .transcript: return .transcript(try reader.value(.transcript))
            case .exported: return .exported(try reader.value())
            case .proven: return .proven(try reader.value(MethodsShape()))
            case .imported: return .imported(try reader.value())
            case .log: return .log(try reader.value())
            case .check: return .check(try reader.value())
            case .enclaveKey: return .enclaveKey(try reader.value())
            case .enclaveResult: return .enclaveResult(try reader.value(.enclaveResult))
            case .enrolment: return .enrolment(try reader.value())
            case .attestationMessage: return .attestationMessage(try reader.value(.attestationMessage))
            case .ticket: return .ticket(try reader.value(.ticket))
            case .migrated: return .migrated(try reader.value())
            case .migrationWouldLeaveItems: return .migrationWouldLeaveItems(try reader.value())
            case .recovered: return .recovered(try reader.value())
            case .groups: return .groups(try reader.value(.groupNames))
            }
        }
    }
}

extension CBORWriter {
    fileprivate mutating func reply<Shape: WireShape>(_ kind: ReplyKind, _ contents: Shape.Value, _ shape: Shape) {
        array(2)
        kind.write(to: &self)
        shape.write(contents, to: &self)
    }

    fileprivate mutating func reply<Value: WireValue>(_ kind: ReplyKind, _ contents: Value) {
        reply(kind, contents, OwnShape())
    }
}

// MARK: - Contents that are not a map

/// The contents of `items`.
private struct ItemPage: WireTuple, WireValue {
    var more: Bool
    var items: [FoundItem]

    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(more: try tuple.field(0, \.more), items: try tuple.field(1, \.items, .list()))
    }
}

extension WireShape where Self == ListShape<OwnShape<FacePermission>> {
    fileprivate static var facePermissions: Self { .list() }
}

extension WireShape where Self == ListShape<TextShape> {
    fileprivate static var transcript: Self {
        .list(of: .text(limit: Limits.titleBytes), limit: Limits.transcriptLines)
    }
}

extension WireShape where Self == SecretShape {
    /// A signature as r and s of 32 bytes each, or a secret of 32.
    fileprivate static var enclaveResult: Self { .secret(limit: 64) }
}

/// Bytes of the longest hash of an enrolment set.
private let hashBytes = 64

extension EnvironmentReport: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            biometry: try map.field(0, \.biometry),
            isEnrolled: try map.field(1, \.isEnrolled),
            isLockedOut: try map.field(2, \.isLockedOut),
            isBiometryUsable: try map.field(3, \.isBiometryUsable),
            biometryHash: try map.optional(4, \.biometryHash, .bytes(limit: hashBytes)),
            isPasscodeSet: try map.field(5, \.isPasscodeSet),
            revision: try map.field(6, \.revision))
    }
}

extension CheckReport: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            more: try map.field(0, \.more),
            done: try map.field(1, \.done),
            total: try map.field(2, \.total),
            findings: try map.field(3, \.findings, .list()))
    }
}

extension Finding: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            try tuple.field(0, \.kind),
            number: try tuple.field(1, \.number),
            item: try tuple.field(2, \.item, .bytes(limit: 64)),
            words: try tuple.field(3, \.words, .phrase))
    }
}

extension StatusReport: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        let tier = try map.field(0, \.tier)
        let processID = try map.field(1, \.processID)
        let storePath = try map.field(2, \.storePath, .text())
        let itemCount = try map.field(3, \.itemCount)
        let biometry = try map.field(4, \.biometry)
        let isEnrolled = try map.field(5, \.isEnrolled)
        let isPasscodeSet = try map.field(6, \.isPasscodeSet)
        let isBiometryLocked = try map.field(7, \.isBiometryLocked)
        let accessGroup = try map.field(8, \.accessGroup, .text())
        let problem = try map.optional(9, \.problem)
        let isLocked = try map.field(10, \.isLocked)
        let quarantineCount = try map.field(11, \.quarantineCount, omitting: 0)
        let enclave = try map.optional(12, \.enclave)
        let unlockedMemory = try map.optional(13, \.unlockedMemory, .text())
        let prompts = try map.field(14, \.prompts, .list(limit: Limits.shownPrompts), omitting: [])
        let enclaveDevice = try map.optional(15, \.enclaveDevice)
        let deviceProblem = try map.optional(16, \.deviceProblem)
        let passcodeKind = try map.optional(17, \.passcodeKind)
        let isBiometryVirtual = try map.field(18, \.isBiometryVirtual, omitting: false)
        let session = try map.field(19, \.session, .text(), omitting: "")
        return Self(
            tier: tier, processID: processID, storePath: storePath, itemCount: itemCount, biometry: biometry,
            isEnrolled: isEnrolled, isPasscodeSet: isPasscodeSet, isBiometryLocked: isBiometryLocked,
            isLocked: isLocked, accessGroup: accessGroup, problem: problem, quarantineCount: quarantineCount,
            enclave: enclave, enclaveDevice: enclaveDevice, deviceProblem: deviceProblem,
            unlockedMemory: unlockedMemory, prompts: prompts, session: session, passcodeKind: passcodeKind,
            isBiometryVirtual: isBiometryVirtual)
    }
}

extension StatusReport.ShownPrompt: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        let processID = try tuple.field(0, \.processID)
        let program = try tuple.field(1, \.program, .text())
        return Self(program: program, processID: processID, session: try tuple.field(2, \.session, .text()))
    }
}

extension Request.Log: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(after: try map.field(0, \.after), limit: try map.field(1, \.limit), verifies: try map.field(2, \.verifies))
    }
}

extension AuditPage: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            lines: try map.field(0, \.lines, .list()),
            last: try map.field(1, \.last),
            finding: try map.optional(2, \.finding))
    }
}

extension AuditLine: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            sequence: try tuple.field(0, \.sequence),
            time: try tuple.field(1, \.time),
            event: try tuple.field(2, \.event, AuditEventShape()),
            item: try tuple.field(3, \.item, .bytes(limit: Limits.applicationBytes)),
            caller: try tuple.field(4, \.caller, .text()),
            processID: try tuple.field(5, \.processID),
            count: try tuple.field(6, \.count),
            ground: try tuple.field(7, \.ground, AuditGroundShape()))
    }
}

private struct AuditGroundShape: WireShape {
    func write(_ value: AuditGround, to writer: inout CBORWriter) { writer.unsigned(UInt64(value.rawValue)) }

    func read(from reader: inout CBORReader) throws(WireError) -> AuditGround {
        guard let ground = UInt8(exactly: try reader.unsigned()).flatMap(AuditGround.init) else { throw .invalidValue }
        return ground
    }
}

/// The number of an event; 0 represents nil.
private struct AuditEventShape: WireShape {
    func write(_ value: AuditEvent?, to writer: inout CBORWriter) { writer.unsigned(UInt64(value?.rawValue ?? 0)) }

    func read(from reader: inout CBORReader) throws(WireError) -> AuditEvent? {
        let number = try reader.unsigned()
        if number == 0 { return nil }
        guard let raw = UInt8(exactly: number), let event = AuditEvent(rawValue: raw) else { throw .invalidValue }
        return event
    }
}
