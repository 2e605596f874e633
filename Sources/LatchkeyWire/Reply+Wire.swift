// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Kinds of answer; part of the wire format.
private enum ReplyKind: UInt8 {
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
}

extension Reply {
    /// Writes `[kind, contents]`.
    package func write(to writer: inout CBORWriter) {
        writer.array(2)
        func kind(_ kind: ReplyKind, _ writer: inout CBORWriter) { writer.unsigned(UInt64(kind.rawValue)) }
        switch self {
        case .failure(let failure):
            kind(.failure, &writer)
            writer.failure(failure)
        case .done:
            kind(.done, &writer)
            writer.map(0)
        case .welcome(let welcome):
            kind(.welcome, &writer)
            writer.map(2)
            writer.unsigned(0)
            writer.unsigned(UInt64(welcome.tier.rawValue))
            writer.unsigned(1)
            writer.integer(Int64(welcome.processID))
        case .status(let report):
            kind(.status, &writer)
            report.write(to: &writer)
        case .context(let handle):
            kind(.context, &writer)
            writer.bytes(handle.bytes)
        case .items(let items, let more):
            kind(.items, &writer)
            writer.array(2)
            writer.boolean(more)
            writer.array(items.count)
            for item in items { item.write(to: &writer) }
        case .policy(let answer):
            kind(.policy, &writer)
            writer.map(answer.refusal == nil ? 1 : 2)
            writer.unsigned(0)
            writer.unsigned(UInt64(answer.biometry.rawValue))
            if let refusal = answer.refusal {
                writer.unsigned(1)
                writer.failure(refusal)
            }
        case .environment(let report):
            kind(.environment, &writer)
            report.write(to: &writer)
        case .facePermissions(let answers):
            kind(.facePermissions, &writer)
            writer.array(answers.count)
            for answer in answers {
                writer.array(2)
                writer.text(answer.application)
                writer.boolean(answer.isAllowed)
            }
        case .exported(let exported):
            kind(.exported, &writer)
            exported.write(to: &writer)
        case .imported(let imported):
            kind(.imported, &writer)
            imported.write(to: &writer)
        case .transcript(let lines):
            kind(.transcript, &writer)
            writer.array(lines.count)
            for line in lines { writer.text(line) }
        case .proven(let methods):
            kind(.proven, &writer)
            writer.array(methods.count)
            for method in AuthenticationMethod.allCases where methods.contains(method) {
                writer.unsigned(UInt64(method.rawValue))
            }
        case .simulated(let delivered):
            kind(.simulated, &writer)
            writer.boolean(delivered)
        case .log(let page):
            kind(.log, &writer)
            page.write(to: &writer)
        case .check(let report):
            kind(.check, &writer)
            report.write(to: &writer)
        case .enclaveKey(let key):
            kind(.enclaveKey, &writer)
            key.write(to: &writer)
        case .enclaveResult(let result):
            kind(.enclaveResult, &writer)
            writer.bytes(result)
        }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) -> Reply in
            switch try reader.number() as ReplyKind {
            case .failure: return .failure(try reader.failure())
            case .done:
                try reader.noParameters()
                return .done
            case .welcome: return .welcome(try Welcome(from: &reader))
            case .status: return .status(try StatusReport(from: &reader))
            case .context: return .context(try reader.contextHandle())
            case .items:
                return try reader.tuple(2) { (reader) throws(WireError) in
                    let more = try reader.boolean()
                    var items: [FoundItem] = []
                    try reader.array { (reader) throws(WireError) in items.append(try FoundItem(from: &reader)) }
                    return .items(items, more: more)
                }
            case .policy: return .policy(try PolicyAnswer(from: &reader))
            case .environment: return .environment(try EnvironmentReport(from: &reader))
            case .facePermissions:
                var answers: [FacePermission] = []
                try reader.array { (reader) throws(WireError) in
                    answers.append(
                        try reader.tuple(2) { (reader) throws(WireError) in
                            FacePermission(
                                application: try reader.text(limit: Limits.applicationBytes),
                                isAllowed: try reader.boolean())
                        })
                }
                return .facePermissions(answers)
            case .exported: return .exported(try Exported(from: &reader))
            case .imported: return .imported(try Imported(from: &reader))
            case .transcript:
                var lines: [String] = []
                try reader.array(limit: Limits.transcriptLines) { (reader) throws(WireError) in
                    lines.append(try reader.text(limit: Limits.titleBytes))
                }
                return .transcript(lines)
            case .proven:
                var methods: [AuthenticationMethod] = []
                try reader.array(limit: AuthenticationMethod.allCases.count) { (reader) throws(WireError) in
                    let method: AuthenticationMethod = try reader.number()
                    if let last = methods.last, last.rawValue >= method.rawValue { throw .unsortedKeys }
                    methods.append(method)
                }
                return .proven(Set(methods))
            case .simulated: return .simulated(delivered: try reader.boolean())
            case .log: return .log(try AuditPage(from: &reader))
            case .check: return .check(try CheckReport(from: &reader))
            case .enclaveKey: return .enclaveKey(try EnclaveKey(from: &reader))
            case .enclaveResult: return .enclaveResult(try reader.secret(limit: 64))
            }
        }
    }
}

extension CBORWriter {
    mutating func failure(_ failure: Failure) {
        map(3)
        unsigned(0)
        unsigned(UInt64(failure.status.rawValue))
        unsigned(1)
        text(failure.message)
        unsigned(2)
        text(failure.hint)
    }
}

extension CBORReader {
    mutating func failure() throws(WireError) -> Failure {
        var status: Status?
        var message: String?
        var hint: String?
        try map { (reader, key) throws(WireError) in
            switch key {
            case 0: status = try reader.number() as Status
            case 1: message = try reader.text()
            case 2: hint = try reader.text()
            default: return false
            }
            return true
        }
        return Failure(try required(status, 0), try required(message, 1), hint: try required(hint, 2))
    }

    mutating func processID() throws(WireError) -> Int32 {
        guard let value = Int32(exactly: try integer()) else { throw .invalidValue }
        return value
    }
}

extension Reply.Welcome {
    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var tier: Tier?
        var processID: Int32?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: tier = try reader.number() as Tier
            case 1: processID = try reader.processID()
            default: return false
            }
            return true
        }
        self.init(tier: try required(tier, 0), processID: try required(processID, 1))
    }
}

extension Reply.PolicyAnswer {
    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var biometry: BiometryKind?
        var refusal: Failure?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: biometry = try reader.number() as BiometryKind
            case 1: refusal = try reader.failure()
            default: return false
            }
            return true
        }
        self.init(refusal: refusal, biometry: try required(biometry, 0))
    }
}

extension FoundItem {
    func write(to writer: inout CBORWriter) {
        var count = 1
        if attributes != nil { count += 1 }
        if accessControl != nil { count += 1 }
        if secret != nil { count += 1 }
        if persistentReference != nil { count += 1 }
        writer.map(count)
        writer.unsigned(0)
        writer.unsigned(UInt64(itemClass.rawValue))
        if let attributes {
            writer.unsigned(1)
            writer.attributes(attributes)
        }
        if let accessControl {
            writer.unsigned(2)
            writer.accessControl(accessControl)
        }
        if let secret {
            writer.unsigned(3)
            writer.bytes(secret)
        }
        if let persistentReference {
            writer.unsigned(4)
            writer.bytes(persistentReference)
        }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var itemClass: ItemClass?
        var item = FoundItem(itemClass: .genericPassword)
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: itemClass = try reader.number() as ItemClass
            case 1: item.attributes = try reader.attributes()
            case 2: item.accessControl = try reader.accessControl()
            case 3: item.secret = try reader.secret()
            case 4: item.persistentReference = try reader.bytes(limit: 256)
            default: return false
            }
            return true
        }
        item.itemClass = try required(itemClass, 0)
        self = item
    }
}

extension StatusReport {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.map(
            10 + (problem == nil ? 0 : 1) + (quarantineCount == 0 ? 0 : 1) + (enclave == nil ? 0 : 1)
                + (unlockedMemory == nil ? 0 : 1) + (prompt == nil ? 0 : 1))
        writer.unsigned(0)
        writer.unsigned(UInt64(tier.rawValue))
        writer.unsigned(1)
        writer.integer(Int64(processID))
        writer.unsigned(2)
        writer.text(storePath)
        writer.unsigned(3)
        writer.unsigned(itemCount)
        writer.unsigned(4)
        writer.unsigned(UInt64(biometry.rawValue))
        writer.unsigned(5)
        writer.boolean(isEnrolled)
        writer.unsigned(6)
        writer.boolean(isPasscodeSet)
        writer.unsigned(7)
        writer.boolean(isBiometryLocked)
        writer.unsigned(8)
        writer.text(accessGroup)
        if let problem {
            writer.unsigned(9)
            writer.failure(problem)
        }
        writer.unsigned(10)
        writer.boolean(isLocked)
        if quarantineCount != 0 {
            writer.unsigned(11)
            writer.unsigned(quarantineCount)
        }
        if let enclave {
            writer.unsigned(12)
            writer.unsigned(UInt64(enclave.rawValue))
        }
        if let unlockedMemory {
            writer.unsigned(13)
            writer.text(unlockedMemory)
        }
        if let prompt {
            writer.unsigned(14)
            writer.array(2)
            writer.integer(Int64(prompt.processID))
            writer.text(prompt.program)
        }
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var tier: Tier?
        var processID: Int32?
        var storePath: String?
        var itemCount: UInt64?
        var biometry: BiometryKind?
        var isEnrolled: Bool?
        var isPasscodeSet: Bool?
        var isBiometryLocked: Bool?
        var isLocked: Bool?
        var accessGroup: String?
        var problem: Failure?
        var quarantineCount: UInt64 = 0
        var enclave: EnclaveKind?
        var unlockedMemory: String?
        var prompt: ShownPrompt?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: tier = try reader.number() as Tier
            case 1: processID = try reader.processID()
            case 2: storePath = try reader.text()
            case 3: itemCount = try reader.unsigned()
            case 4: biometry = try reader.number() as BiometryKind
            case 5: isEnrolled = try reader.boolean()
            case 6: isPasscodeSet = try reader.boolean()
            case 7: isBiometryLocked = try reader.boolean()
            case 8: accessGroup = try reader.text()
            case 10: isLocked = try reader.boolean()
            case 9: problem = try reader.failure()
            case 11:
                quarantineCount = try reader.unsigned()
                // Zero is said by leaving the field out: one message, one byte string.
                guard quarantineCount != 0 else { throw .invalidValue }
            case 12: enclave = try reader.number() as EnclaveKind
            case 13: unlockedMemory = try reader.text()
            case 14:
                prompt = try reader.tuple(2) { (reader) throws(WireError) in
                    let processID = try reader.processID()
                    return ShownPrompt(program: try reader.text(), processID: processID)
                }
            default: return false
            }
            return true
        }
        self.init(
            tier: try required(tier, 0), processID: try required(processID, 1), storePath: try required(storePath, 2),
            itemCount: try required(itemCount, 3), biometry: try required(biometry, 4),
            isEnrolled: try required(isEnrolled, 5), isPasscodeSet: try required(isPasscodeSet, 6),
            isBiometryLocked: try required(isBiometryLocked, 7), isLocked: try required(isLocked, 10),
            accessGroup: try required(accessGroup, 8),
            problem: problem, quarantineCount: quarantineCount, enclave: enclave, unlockedMemory: unlockedMemory,
            prompt: prompt)
    }
}
