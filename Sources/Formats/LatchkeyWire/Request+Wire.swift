// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Numbers of operations; part of the wire format.
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
    case listNames = 16
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
    case beginEnrolment = 53
    case answerEnrolment = 54
    case proveKey = 55
    case beginMigration = 60
    case receiveItems = 61
    case mapGroups = 62
    case migrate = 63
}

extension Request: WireValue {
    /// Writes `[operation, parameters]`.
    package func write(to writer: inout CBORWriter) {
        switch self {
        case .hello(let hello): writer.request(.hello, hello)
        case .status: writer.request(.status)
        case .createContext: writer.request(.createContext)
        case .invalidateContext(let handle): writer.request(.invalidateContext, ContextParameters(context: handle))
        case .canEvaluate(let policy): writer.request(.canEvaluate, PolicyParameters(policy: policy))
        case .evaluate(let evaluate): writer.request(.evaluate, evaluate)
        case .evaluateRule(let evaluate): writer.request(.evaluateRule, evaluate)
        case .environment(let revision): writer.request(.environment, EnvironmentParameters(revision: revision))
        case .addItem(let add): writer.request(.addItem, add)
        case .copyItems(let copy): writer.request(.copyItems, copy)
        case .updateItems(let update): writer.request(.updateItems, update)
        case .deleteItems(let query): writer.request(.deleteItems, query)
        case .listItems(let query): writer.request(.listItems, query)
        case .listEverything: writer.request(.listEverything)
        case .listNames: writer.request(.listNames)
        case .passcode(let change): writer.request(.passcode, change)
        case .facePermissions: writer.request(.facePermissions)
        case .changeFacePermission(let change): writer.request(.changeFacePermission, change)
        case .lock: writer.request(.lock)
        case .unlock(let prompting): writer.request(.unlock, prompting)
        case .exportItems(let export): writer.request(.exportItems, export)
        case .importItems(let part): writer.request(.importItems, part)
        case .simulate(let command): writer.request(.simulate, command)
        case .transcript: writer.request(.transcript)
        case .log(let log): writer.request(.log, log)
        case .check: writer.request(.check)
        case .restoreRows: writer.request(.restoreRows)
        case .acceptStore: writer.request(.acceptStore)
        case .discardProtected: writer.request(.discardProtected)
        case .discardForgotten: writer.request(.discardForgotten)
        case .createEnclaveKey(let create): writer.request(.createEnclaveKey, create)
        case .useEnclaveKey(let use): writer.request(.useEnclaveKey, use)
        case .describeEnclaveKey(let name): writer.request(.describeEnclaveKey, name)
        case .beginEnrolment(let begin): writer.request(.beginEnrolment, begin)
        case .answerEnrolment(let answer): writer.request(.answerEnrolment, answer)
        case .proveKey(let prove): writer.request(.proveKey, prove)
        case .beginMigration: writer.request(.beginMigration)
        case .receiveItems(let page): writer.request(.receiveItems, page)
        case .mapGroups(let groups): writer.request(.mapGroups, GroupParameters(groups: groups))
        case .migrate(let migrate): writer.request(.migrate, migrate)
        }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) -> Request in
            guard let raw = UInt8(exactly: try reader.unsigned()), let operation = Operation(rawValue: raw) else {
                throw .unknownMessage
            }
            switch operation {
            case .hello: return .hello(try reader.value())
            case .status: return try reader.noFields(.status)
            case .createContext: return try reader.noFields(.createContext)
            case .invalidateContext: return .invalidateContext(try ContextParameters(from: &reader).context)
            case .canEvaluate: return .canEvaluate(try PolicyParameters(from: &reader).policy)
            case .evaluate: return .evaluate(try reader.value())
            case .evaluateRule: return .evaluateRule(try reader.value())
            case .environment: return .environment(unlike: try EnvironmentParameters(from: &reader).revision)
            case .addItem: return .addItem(try reader.value())
            case .copyItems: return .copyItems(try reader.value())
            case .updateItems: return .updateItems(try reader.value())
            case .deleteItems: return .deleteItems(try reader.value())
            case .listItems: return .listItems(try reader.value())
            case .listEverything: return try reader.noFields(.listEverything)
            case .listNames: return try reader.noFields(.listNames)
            case .passcode: return .passcode(try reader.value())
            case .facePermissions: return try reader.noFields(.facePermissions)
            case .changeFacePermission: return .changeFacePermission(try reader.value())
            case .lock: return try reader.noFields(.lock)
            case .unlock: return .unlock(try reader.value())
            case .exportItems: return .exportItems(try reader.value())
            case .importItems: return .importItems(try reader.value())
            case .simulate: return .simulate(try reader.value())
            case .transcript: return try reader.noFields(.transcript)
            case .log: return .log(try reader.value())
            case .check: return try reader.noFields(.check)
            case .restoreRows: return try reader.noFields(.restoreRows)
            case .acceptStore: return try reader.noFields(.acceptStore)
            case .discardProtected: return try reader.noFields(.discardProtected)
            case .discardForgotten: return try reader.noFields(.discardForgotten)
            case .createEnclaveKey: return .createEnclaveKey(try reader.value())
            case .useEnclaveKey: return .useEnclaveKey(try reader.value())
            case .describeEnclaveKey: return .describeEnclaveKey(try reader.value())
            case .beginEnrolment: return .beginEnrolment(try reader.value())
            case .answerEnrolment: return .answerEnrolment(try reader.value())
            case .proveKey: return .proveKey(try reader.value())
            case .beginMigration: return try reader.noFields(.beginMigration)
            case .receiveItems: return .receiveItems(try reader.value())
            case .mapGroups: return .mapGroups(try GroupParameters(from: &reader).groups)
            case .migrate: return .migrate(try reader.value())
            }
        }
    }
}

extension CBORWriter {
    fileprivate mutating func request(_ operation: Operation, _ parameters: some WireValue = NoFields()) {
        array(2)
        unsigned(UInt64(operation.rawValue))
        parameters.write(to: &self)
    }
}
