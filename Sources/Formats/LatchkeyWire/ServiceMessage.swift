// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// One frame between `latchkeyd` and `latchkey-authd`: `[kind, number, [operation, fields]]`. Each side numbers its own
/// calls; a reply repeats the number of its call.
package enum ServiceMessage: Equatable, Sendable {
    case authorityCall(UInt64, AuthorityCall)
    case authorityReply(UInt64, AuthorityReply)
    case storeCall(UInt64, StoreCall)
    case storeReply(UInt64, StoreReply)

    /// The payload's bytes.
    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        writer.array(3)
        func begin(_ kind: UInt64, _ number: UInt64) {
            writer.unsigned(kind)
            writer.unsigned(number)
            writer.array(2)
        }
        func body(_ operation: UInt64, _ fields: some WireValue = NoFields()) {
            writer.unsigned(operation)
            fields.write(to: &writer)
        }
        switch self {
        case .authorityCall(let number, let call):
            begin(0, number)
            switch call {
            case .identify(let process): body(1, process)
            case .attach(let attach): body(2, attach)
            case .evaluate(let evaluate): body(3, evaluate)
            case .withdraw(let withdraw): body(4, withdraw)
            case .change(let change): body(5, change)
            case .setFacePermission(let change): body(6, change)
            case .bindKey(let bind): body(7, bind)
            case .approve(let approve): body(8, approve)
            }
        case .authorityReply(let number, let reply):
            begin(1, number)
            switch reply {
            case .done: body(0)
            case .failure(let failure): body(1, failure)
            case .identity(let identity): body(2, identity)
            case .granted(let grant): body(3, grant)
            case .keyBinding(let binding): body(4, binding)
            case .approved(let approval): body(5, approval)
            }
        case .storeCall(let number, let call):
            begin(2, number)
            switch call {
            case .welcome(let welcome): body(1, welcome)
            case .state(let state): body(2, state)
            case .adopt(let adopt): body(3, adopt)
            case .open(let open): body(4, open)
            case .counted(let counted): body(5, counted)
            case .countersWereLost(let userID): body(6, userID)
            case .replaceSlot(let slot): body(7, slot)
            case .carry(let command): body(8, command)
            case .tryRecovery(let recovery): body(9, recovery)
            case .sessionLock(let lock): body(10, lock)
            case .refused(let refused): body(11, refused)
            case .storeRecoveryCopy(let copy): body(12, copy)
            case .carryProof(let command): body(13, command)
            case .carryPreparation(let command): body(14, command)
            case .tryFailed(let failed): body(15, failed)
            }
        case .storeReply(let number, let reply):
            begin(3, number)
            switch reply {
            case .done: body(0)
            case .failure(let failure): body(1, failure)
            case .opened(let isOpen): body(2, isOpen)
            case .carried(let response): body(3, response)
            }
        }
        return writer.finish()
    }

    /// Decodes a payload, which must be exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try payload.withBytes { (bytes) throws(WireError) -> ServiceMessage in
            var reader = CBORReader(bytes)
            let message = try reader.tuple(3) { (reader) throws(WireError) -> ServiceMessage in
                let kind = try reader.unsigned()
                let number = try reader.unsigned()
                return try reader.tuple(2) { (reader) throws(WireError) in
                    let operation = try reader.unsigned()
                    switch kind {
                    case 0: return .authorityCall(number, try Self.authorityCall(operation, &reader))
                    case 1: return .authorityReply(number, try Self.authorityReply(operation, &reader))
                    case 2: return .storeCall(number, try Self.storeCall(operation, &reader))
                    case 3: return .storeReply(number, try Self.storeReply(operation, &reader))
                    default: throw .unknownMessage
                    }
                }
            }
            try reader.finish()
            return message
        }
    }

    private static func authorityCall(
        _ operation: UInt64, _ reader: inout CBORReader
    ) throws(WireError) -> AuthorityCall {
        switch operation {
        case 1: .identify(try reader.value())
        case 2: .attach(try reader.value())
        case 3: .evaluate(try reader.value())
        case 4: .withdraw(try reader.value())
        case 5: .change(try reader.value())
        case 6: .setFacePermission(try reader.value())
        case 7: .bindKey(try reader.value())
        case 8: .approve(try reader.value())
        default: throw .unknownMessage
        }
    }

    private static func authorityReply(
        _ operation: UInt64, _ reader: inout CBORReader
    ) throws(WireError) -> AuthorityReply {
        switch operation {
        case 0: try reader.noFields(.done)
        case 1: .failure(try reader.value())
        case 2: .identity(try reader.value())
        case 3: .granted(try reader.value())
        case 4: .keyBinding(try reader.value())
        case 5: .approved(try reader.value())
        default: throw .unknownMessage
        }
    }

    private static func storeCall(_ operation: UInt64, _ reader: inout CBORReader) throws(WireError) -> StoreCall {
        switch operation {
        case 1: .welcome(try reader.value())
        case 2: .state(try reader.value())
        case 3: .adopt(try reader.value())
        case 4: .open(try reader.value())
        case 5: .counted(try reader.value())
        case 6: .countersWereLost(userID: try reader.value())
        case 7: .replaceSlot(try reader.value())
        case 8: .carry(try reader.value())
        case 9: .tryRecovery(try reader.value())
        case 10: .sessionLock(try reader.value())
        case 11: .refused(try reader.value())
        case 12: .storeRecoveryCopy(try reader.value())
        case 13: .carryProof(try reader.value())
        case 14: .carryPreparation(try reader.value())
        case 15: .tryFailed(try reader.value())
        default: throw .unknownMessage
        }
    }

    private static func storeReply(_ operation: UInt64, _ reader: inout CBORReader) throws(WireError) -> StoreReply {
        switch operation {
        case 0: try reader.noFields(.done)
        case 1: .failure(try reader.value())
        case 2: .opened(try reader.value())
        case 3: .carried(try reader.value())
        default: throw .unknownMessage
        }
    }
}
