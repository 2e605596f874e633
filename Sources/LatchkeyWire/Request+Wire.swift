// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Operation numbers; part of the wire format.
private enum Operation: UInt8 {
    case hello = 1
    case status = 2
    case createContext = 3
    case invalidateContext = 4
    case canEvaluate = 5
    case evaluate = 6
    case evaluateRule = 7
    case environment = 8
    case addItem = 10
    case copyItems = 11
    case updateItems = 12
    case deleteItems = 13
    case listItems = 14
    case listEverything = 15
    case passcode = 20
    case facePermissions = 21
    case changeFacePermission = 22
    case lock = 23
    case unlock = 24
    case exportItems = 25
    case importItems = 26
    case simulate = 30
    case transcript = 31
    case log = 40
    case check = 41
    case restoreRows = 42
    case acceptStore = 43
    case discardProtected = 44
    case discardForgotten = 45
    case createEnclaveKey = 50
    case useEnclaveKey = 51
    case describeEnclaveKey = 52
}

extension Request {
    /// Writes `[operation, parameters]`.
    package func write(to writer: inout CBORWriter) {
        writer.array(2)
        func operation(_ operation: Operation, _ writer: inout CBORWriter) {
            writer.unsigned(UInt64(operation.rawValue))
        }
        switch self {
        case .hello(let hello):
            operation(.hello, &writer)
            writer.map(1 + (hello.faceUsage == nil ? 0 : 1) + (hello.groups.isEmpty ? 0 : 1))
            writer.unsigned(0)
            writer.text(hello.application)
            if let usage = hello.faceUsage {
                writer.unsigned(1)
                writer.text(usage)
            }
            if !hello.groups.isEmpty {
                writer.unsigned(2)
                writer.array(hello.groups.count)
                for group in hello.groups { writer.text(group) }
            }
        case .status:
            operation(.status, &writer)
            writer.map(0)
        case .createContext:
            operation(.createContext, &writer)
            writer.map(0)
        case .invalidateContext(let handle):
            operation(.invalidateContext, &writer)
            writer.map(1)
            writer.unsigned(0)
            writer.bytes(handle.bytes)
        case .canEvaluate(let policy):
            operation(.canEvaluate, &writer)
            writer.map(1)
            writer.unsigned(0)
            writer.unsigned(UInt64(policy.rawValue))
        case .evaluate(let evaluate):
            operation(.evaluate, &writer)
            writer.map(evaluate.reuseSeconds == 0 ? 3 : 4)
            writer.unsigned(0)
            writer.bytes(evaluate.context.bytes)
            writer.unsigned(1)
            writer.unsigned(UInt64(evaluate.policy.rawValue))
            writer.unsigned(2)
            writer.prompting(evaluate.prompting)
            if evaluate.reuseSeconds != 0 {
                writer.unsigned(3)
                writer.unsigned(evaluate.reuseSeconds)
            }
        case .evaluateRule(let evaluate):
            operation(.evaluateRule, &writer)
            writer.map(3)
            writer.unsigned(0)
            writer.bytes(evaluate.context.bytes)
            writer.unsigned(1)
            writer.accessControl(evaluate.accessControl)
            writer.unsigned(2)
            writer.prompting(evaluate.prompting)
        case .environment(let revision):
            operation(.environment, &writer)
            writer.map(revision == nil ? 0 : 1)
            if let revision {
                writer.unsigned(0)
                writer.unsigned(revision)
            }
        case .addItem(let add):
            operation(.addItem, &writer)
            add.write(to: &writer)
        case .copyItems(let copy):
            operation(.copyItems, &writer)
            copy.write(to: &writer)
        case .updateItems(let update):
            operation(.updateItems, &writer)
            update.write(to: &writer)
        case .deleteItems(let query):
            operation(.deleteItems, &writer)
            writer.query(query)
        case .listItems(let query):
            operation(.listItems, &writer)
            writer.query(query)
        case .listEverything:
            operation(.listEverything, &writer)
            writer.map(0)
        case .passcode(let change):
            operation(.passcode, &writer)
            change.write(to: &writer)
        case .lock:
            operation(.lock, &writer)
            writer.map(0)
        case .unlock(let prompting):
            operation(.unlock, &writer)
            writer.prompting(prompting)
        case .facePermissions:
            operation(.facePermissions, &writer)
            writer.map(0)
        case .changeFacePermission(let change):
            operation(.changeFacePermission, &writer)
            writer.map(2)
            writer.unsigned(0)
            writer.text(change.application)
            writer.unsigned(1)
            writer.boolean(change.mayAskAgain)
        case .simulate(let command):
            operation(.simulate, &writer)
            command.write(to: &writer)
        case .exportItems(let export):
            operation(.exportItems, &writer)
            export.write(to: &writer)
        case .importItems(let part):
            operation(.importItems, &writer)
            part.write(to: &writer)
        case .transcript:
            operation(.transcript, &writer)
            writer.map(0)
        case .log(let log):
            operation(.log, &writer)
            log.write(to: &writer)
        case .check:
            operation(.check, &writer)
            writer.map(0)
        case .restoreRows:
            operation(.restoreRows, &writer)
            writer.map(0)
        case .acceptStore:
            operation(.acceptStore, &writer)
            writer.map(0)
        case .discardProtected:
            operation(.discardProtected, &writer)
            writer.map(0)
        case .discardForgotten:
            operation(.discardForgotten, &writer)
            writer.map(0)
        case .createEnclaveKey(let create):
            operation(.createEnclaveKey, &writer)
            create.write(to: &writer)
        case .useEnclaveKey(let use):
            operation(.useEnclaveKey, &writer)
            use.write(to: &writer)
        case .describeEnclaveKey(let name):
            operation(.describeEnclaveKey, &writer)
            writer.enclaveKeyName(name)
        }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) -> Request in
            guard let raw = UInt8(exactly: try reader.unsigned()), let operation = Operation(rawValue: raw) else {
                throw .unknownMessage
            }
            switch operation {
            case .hello: return .hello(try Hello(from: &reader))
            case .status:
                try reader.noParameters()
                return .status
            case .createContext:
                try reader.noParameters()
                return .createContext
            case .invalidateContext: return .invalidateContext(try reader.onlyContext())
            case .canEvaluate: return .canEvaluate(try reader.onlyPolicy())
            case .evaluate: return .evaluate(try Evaluate(from: &reader))
            case .evaluateRule: return .evaluateRule(try EvaluateRule(from: &reader))
            case .environment: return .environment(unlike: try reader.onlyRevision())
            case .addItem: return .addItem(try AddItem(from: &reader))
            case .copyItems: return .copyItems(try CopyItems(from: &reader))
            case .updateItems: return .updateItems(try UpdateItems(from: &reader))
            case .deleteItems: return .deleteItems(try reader.query())
            case .listItems: return .listItems(try reader.query())
            case .listEverything:
                try reader.noParameters()
                return .listEverything
            case .passcode: return .passcode(try PasscodeChange(from: &reader))
            case .lock:
                try reader.noParameters()
                return .lock
            case .unlock: return .unlock(try reader.prompting())
            case .facePermissions:
                try reader.noParameters()
                return .facePermissions
            case .changeFacePermission: return .changeFacePermission(try FacePermissionChange(from: &reader))
            case .simulate: return .simulate(try SimulatorCommand(from: &reader))
            case .exportItems: return .exportItems(try ExportItems(from: &reader))
            case .importItems: return .importItems(try ImportItems(from: &reader))
            case .transcript:
                try reader.noParameters()
                return .transcript
            case .log: return .log(try Log(from: &reader))
            case .check:
                try reader.noParameters()
                return .check
            case .restoreRows:
                try reader.noParameters()
                return .restoreRows
            case .acceptStore:
                try reader.noParameters()
                return .acceptStore
            case .discardProtected:
                try reader.noParameters()
                return .discardProtected
            case .discardForgotten:
                try reader.noParameters()
                return .discardForgotten
            case .createEnclaveKey: return .createEnclaveKey(try CreateEnclaveKey(from: &reader))
            case .useEnclaveKey: return .useEnclaveKey(try UseEnclaveKey(from: &reader))
            case .describeEnclaveKey: return .describeEnclaveKey(try reader.enclaveKeyName())
            }
        }
    }
}

extension CBORReader {
    mutating func noParameters() throws(WireError) {
        try map { (_, _) throws(WireError) in false }
    }

    fileprivate mutating func onlyContext() throws(WireError) -> ContextHandle {
        var handle: ContextHandle?
        try map { (reader, key) throws(WireError) in
            guard key == 0 else { return false }
            handle = try reader.contextHandle()
            return true
        }
        return try required(handle, 0)
    }

    fileprivate mutating func onlyPolicy() throws(WireError) -> Policy {
        var policy: Policy?
        try map { (reader, key) throws(WireError) in
            guard key == 0 else { return false }
            policy = try reader.number()
            return true
        }
        return try required(policy, 0)
    }
}

extension CBORReader {
    fileprivate mutating func onlyRevision() throws(WireError) -> UInt64? {
        var revision: UInt64?
        try map { (reader, key) throws(WireError) in
            guard key == 0 else { return false }
            revision = try reader.unsigned()
            return true
        }
        return revision
    }
}

extension Request.EvaluateRule {
    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var context: ContextHandle?
        var control: AccessControl?
        var prompting: Prompting?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: context = try reader.contextHandle()
            case 1: control = try reader.accessControl()
            case 2: prompting = try reader.prompting()
            default: return false
            }
            return true
        }
        self.init(
            context: try required(context, 0), accessControl: try required(control, 1),
            prompting: try required(prompting, 2))
    }
}

extension Request.Hello {
    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var application: String?
        var faceUsage: String?
        var groups: [String] = []
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: application = try reader.text(limit: Limits.applicationBytes)
            case 1: faceUsage = try reader.text(limit: Limits.titleBytes)
            case 2:
                try reader.array(limit: Limits.accessGroups) { (reader) throws(WireError) in
                    groups.append(try reader.text(limit: Limits.applicationBytes))
                }
                // Groups that are none are left out: one message has one form.
                guard !groups.isEmpty else { throw .invalidValue }
            default: return false
            }
            return true
        }
        self.init(application: try required(application, 0), faceUsage: faceUsage, groups: groups)
    }
}

extension Request.FacePermissionChange {
    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var application: String?
        var mayAskAgain: Bool?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: application = try reader.text(limit: Limits.applicationBytes)
            case 1: mayAskAgain = try reader.boolean()
            default: return false
            }
            return true
        }
        self.init(application: try required(application, 0), mayAskAgain: try required(mayAskAgain, 1))
    }
}

extension Request.Evaluate {
    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var context: ContextHandle?
        var policy: Policy?
        var prompting: Prompting?
        var reuseSeconds: UInt64 = 0
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: context = try reader.contextHandle()
            case 1: policy = try reader.number()
            case 2: prompting = try reader.prompting()
            case 3:
                reuseSeconds = try reader.unsigned()
                // Zero is said by leaving the field out: one message, one byte string.
                guard reuseSeconds != 0 else { throw .invalidValue }
            default: return false
            }
            return true
        }
        self.init(
            context: try required(context, 0), policy: try required(policy, 1),
            prompting: try required(prompting, 2), reuseSeconds: reuseSeconds)
    }
}

extension Request.PasscodeChange {
    fileprivate func write(to writer: inout CBORWriter) {
        let (number, new): (UInt64, SecretBytes?) =
            switch self {
            case .set(let new): (1, new)
            case .change(let new): (2, new)
            case .remove: (3, nil)
            }
        writer.map(new == nil ? 1 : 2)
        writer.unsigned(0)
        writer.unsigned(number)
        guard let new else { return }
        writer.unsigned(1)
        writer.bytes(new)
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var number: UInt64?
        var new: SecretBytes?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: number = try reader.unsigned()
            case 1: new = try reader.secret(limit: Limits.passcodeBytes)
            default: return false
            }
            return true
        }
        switch (try required(number, 0), new) {
        case (1, let new?): self = .set(new)
        case (2, let new?): self = .change(new)
        case (3, nil): self = .remove
        case (1, nil), (2, nil): throw .missingKey(1)
        default: throw .invalidValue
        }
    }
}

extension SimulatorCommand {
    fileprivate func write(to writer: inout CBORWriter) {
        func command(_ number: UInt64, _ argument: UInt64?, _ writer: inout CBORWriter) {
            writer.map(argument == nil ? 1 : 2)
            writer.unsigned(0)
            writer.unsigned(number)
            guard let argument else { return }
            writer.unsigned(1)
            writer.unsigned(argument)
        }
        func typed(_ number: UInt64, _ text: SecretBytes, _ writer: inout CBORWriter) {
            writer.map(2)
            writer.unsigned(0)
            writer.unsigned(number)
            writer.unsigned(2)
            writer.bytes(text)
        }
        switch self {
        case .sensor(let kind): command(1, UInt64(kind.rawValue), &writer)
        case .enrol: command(2, nil, &writer)
        case .unenrol: command(3, nil, &writer)
        case .replaceFinger: command(4, nil, &writer)
        case .touch(let matching): command(5, matching ? 1 : 0, &writer)
        case .advance(let seconds): command(6, seconds, &writer)
        case .reset: command(7, nil, &writer)
        case .lock: command(8, nil, &writer)
        case .unlock(let byBiometry): command(9, byBiometry ? 1 : 0, &writer)
        case .pair(let type): command(10, UInt64(type.rawValue), &writer)
        case .unpair(let type): command(11, UInt64(type.rawValue), &writer)
        case .nearby(let type, let isNear): command(isNear ? 12 : 13, UInt64(type.rawValue), &writer)
        case .background(let isBehind): command(14, isBehind ? 1 : 0, &writer)
        case .confirm: command(15, nil, &writer)
        case .permission(let isAllowed): command(16, isAllowed ? 1 : 0, &writer)
        case .fail(let failure): command(17, UInt64(failure.rawValue), &writer)
        case .acceptAnyPasscode(let isOn): command(18, isOn ? 1 : 0, &writer)
        case .restart: command(19, nil, &writer)
        case .cancel: command(20, nil, &writer)
        case .fallback: command(21, nil, &writer)
        case .enter(let passcode): typed(22, passcode, &writer)
        case .acknowledgeCode: command(23, nil, &writer)
        case .enterCode(let code): typed(24, code, &writer)
        case .tellCode: command(25, nil, &writer)
        }
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var number: UInt64?
        var argument: UInt64?
        var typed: SecretBytes?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: number = try reader.unsigned()
            case 1: argument = try reader.unsigned()
            case 2: typed = try reader.secret(limit: Limits.passcodeBytes)
            default: return false
            }
            return true
        }
        if let typed {
            switch (number, argument) {
            case (22, nil): self = .enter(typed)
            case (24, nil) where typed.count <= Limits.recoveryCodeBytes: self = .enterCode(typed)
            default: throw .invalidValue
            }
            return
        }
        switch (try required(number, 0), argument) {
        case (1, let raw?):
            guard let raw = UInt8(exactly: raw), let kind = BiometryKind(rawValue: raw) else { throw .invalidValue }
            self = .sensor(kind)
        case (2, nil): self = .enrol
        case (3, nil): self = .unenrol
        case (4, nil): self = .replaceFinger
        case (5, 0?): self = .touch(matching: false)
        case (5, 1?): self = .touch(matching: true)
        case (6, let seconds?): self = .advance(seconds: seconds)
        case (7, nil): self = .reset
        case (8, nil): self = .lock
        case (9, 0?): self = .unlock(byBiometry: false)
        case (9, 1?): self = .unlock(byBiometry: true)
        case (10, let raw?): self = .pair(try SimulatorCommand.companion(raw))
        case (11, let raw?): self = .unpair(try SimulatorCommand.companion(raw))
        case (12, let raw?): self = .nearby(try SimulatorCommand.companion(raw), true)
        case (13, let raw?): self = .nearby(try SimulatorCommand.companion(raw), false)
        case (14, 0?): self = .background(false)
        case (14, 1?): self = .background(true)
        case (15, nil): self = .confirm
        case (16, 0?): self = .permission(false)
        case (16, 1?): self = .permission(true)
        case (17, let raw?):
            guard let raw = UInt8(exactly: raw), let failure = SimulatedFailure(rawValue: raw) else {
                throw .invalidValue
            }
            self = .fail(failure)
        case (18, 0?): self = .acceptAnyPasscode(false)
        case (18, 1?): self = .acceptAnyPasscode(true)
        case (19, nil): self = .restart
        case (20, nil): self = .cancel
        case (21, nil): self = .fallback
        case (23, nil): self = .acknowledgeCode
        case (25, nil): self = .tellCode
        default: throw .invalidValue
        }
    }

    private static func companion(_ raw: UInt64) throws(WireError) -> CompanionType {
        guard let raw = UInt8(exactly: raw), let type = CompanionType(rawValue: raw) else { throw .invalidValue }
        return type
    }
}
