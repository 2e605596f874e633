// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension Request {
    /// Reads `[operation, parameters]`.
    init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) -> Request in
            guard let raw = UInt8(exactly: try reader.unsigned()), let operation = Operation(rawValue: raw) else {
                throw .unknownMessage
            }
            return switch operation {
            case .hello: .hello(try reader.value())
            case .status: .status(try reader.value())
            case .createContext: .createContext(try reader.value())
            case .invalidateContext: .invalidateContext(try reader.value())
            case .canEvaluate: .canEvaluate(try reader.value())
            case .evaluate: .evaluate(try reader.value())
            case .evaluateAccessControl: .evaluateAccessControl(try reader.value())
            case .environment: .environment(try reader.value())
            case .addItem: .addItem(try reader.value())
            case .copyItems: .copyItems(try reader.value())
            case .updateItems: .updateItems(try reader.value())
            case .deleteItems: .deleteItems(try reader.value())
            case .listItems: .listItems(try reader.value())
            case .listEverything: .listEverything(try reader.value())
            case .listNames: .listNames(try reader.value())
            case .deleteListed: .deleteListed(try reader.value())
            case .passcode: .passcode(try reader.value())
            case .facePermissions: .facePermissions(try reader.value())
            case .changeFacePermission: .changeFacePermission(try reader.value())
            case .lock: .lock(try reader.value())
            case .unlock: .unlock(try reader.value())
            case .exportItems: .exportItems(try reader.value())
            case .importItems: .importItems(try reader.value())
            case .simulate: .simulate(try reader.value())
            case .transcript: .transcript(try reader.value())
            case .log: .log(try reader.value())
            case .check: .check(try reader.value())
            case .restoreRows: .restoreRows(try reader.value())
            case .acceptStore: .acceptStore(try reader.value())
            case .discardProtected: .discardProtected(try reader.value())
            case .discardForgotten: .discardForgotten(try reader.value())
            case .createEnclaveKey: .createEnclaveKey(try reader.value())
            case .useEnclaveKey: .useEnclaveKey(try reader.value())
            case .describeEnclaveKey: .describeEnclaveKey(try reader.value())
            case .beginEnrolment: .beginEnrolment(try reader.value())
            case .answerEnrolment: .answerEnrolment(try reader.value())
            case .proveKey: .proveKey(try reader.value())
            case .beginMigration: .beginMigration(try reader.value())
            case .receiveItems: .receiveItems(try reader.value())
            case .mapGroups: .mapGroups(try reader.value())
            case .migrate: .migrate(try reader.value())
            case .useSecrets: .useSecrets(try reader.value())
            }
        }
    }
}

extension CBORWriter {
    /// Writes `[operation, parameters]`.
    mutating func request<Parameters: ClientRequest & WireValue>(_ request: Parameters) {
        array(2)
        unsigned(UInt64(Parameters.operation.rawValue))
        request.write(to: &self)
    }
}

// MARK: - Parameters that are not a map of their own

extension WireMap where Self: BareRequest {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self()
    }
}

extension Request.Status: WireMap {}
extension Request.CreateContext: WireMap {}
extension Request.ListEverything: WireMap {}
extension Request.ListNames: WireMap {}
extension Request.Check: WireMap {}
extension Request.RestoreRows: WireMap {}
extension Request.AcceptStore: WireMap {}
extension Request.DiscardProtected: WireMap {}
extension Request.DiscardForgotten: WireMap {}
extension Request.Lock: WireMap {}
extension Request.FacePermissions: WireMap {}
extension Request.Transcript: WireMap {}
extension Request.BeginMigration: WireMap {}

extension Request.DeleteItems: WireValue {
    package func write(to writer: inout CBORWriter) { query.write(to: &writer) }
    package init(from reader: inout CBORReader) throws(WireError) { self.init(try reader.value()) }
}

extension Request.ListItems: WireValue {
    package func write(to writer: inout CBORWriter) { query.write(to: &writer) }
    package init(from reader: inout CBORReader) throws(WireError) { self.init(try reader.value()) }
}

extension Request.Unlock: WireValue {
    package func write(to writer: inout CBORWriter) { prompting.write(to: &writer) }
    package init(from reader: inout CBORReader) throws(WireError) { self.init(try reader.value()) }
}

extension Request.Simulate: WireValue {
    package func write(to writer: inout CBORWriter) { command.write(to: &writer) }
    package init(from reader: inout CBORReader) throws(WireError) { self.init(try reader.value()) }
}

extension Request.DescribeEnclaveKey: WireValue {
    package func write(to writer: inout CBORWriter) { name.write(to: &writer) }
    package init(from reader: inout CBORReader) throws(WireError) { self.init(try reader.value()) }
}
