// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// Keys of enrolment sets that the TPM unseals only while a counter of the store has a certain number.
///
/// A counter that another program removes and makes again continues above its old number (TPM 2.0 Library, Part 3,
/// section 31.3), so no key opens again that was sealed for an earlier number.
final class TPMEnrolmentSeal: EnrolmentSeal {
    private let ownCounter: TPMCounter

    /// Creates a seal with the counter of the enrolment sets.
    init(_ counter: TPMCounter) { ownCounter = counter }

    var counter: any MonotonicCounter { ownCounter }

    /// The bytes are `2B area ‖ 2B private part`.
    func seal(_ key: SecretBytes, at number: UInt64) throws(Failure) -> [UInt8] {
        try ownCounter.use { (client, policy, root) throws(TPMError) in
            guard let index = try client.writtenCounter(policy) else { throw Self.gone(nil) }
            let demand = try failing { () throws(Failure) in try PolicyDigest().number(number, of: index.name()) }
            let (area, privatePart) = try client.seal(key, below: root, policy: demand)
            return try failing { () throws(Failure) in
                var writer = TPMWriter()
                try writer.add(sized: area.encoded())
                try writer.add(sized: privatePart)
                return writer.bytes
            }
        }
    }

    func open(_ sealed: [UInt8], at number: UInt64) throws(Failure) -> SecretBytes {
        try ownCounter.use { (client, policy, root) throws(TPMError) in
            guard let index = try client.writtenCounter(policy) else { throw Self.gone(nil) }
            let (area, privatePart) = try failing { () throws(Failure) in try Self.decode(sealed) }
            let demand = try failing { () throws(Failure) in try PolicyDigest().number(number, of: index.name()) }
            // One that was sealed for another index, for another number, or without a policy.
            guard area.policy == demand.bytes else { throw Self.gone(nil) }
            do throws(TPMError) {
                return try client.unseal(privatePart, area, below: root) { (client, session) throws(TPMError) in
                    try client.demand(number, of: index, session, in: root)
                }
            } catch {
                switch error {
                case .refused(let code, .policyNV) where [.policyUnsatisfied, .handleGone].contains(code.kind),
                    .refused(let code, .load) where code.kind == .integrity:
                    throw Self.gone(error)
                default: throw error
                }
            }
        }
    }

    private static func decode(_ sealed: [UInt8]) throws(Failure) -> (TPMSealedArea, [UInt8]) {
        var reader = TPMReader(sealed)
        let area = try TPMSealedArea(decoding: try reader.sized(limit: 128))
        let privatePart = try reader.sized(limit: 512)
        try reader.checkEnd()
        return (area, privatePart)
    }

    private static func gone(_ cause: TPMError?) -> TPMError {
        .failed(
            Failure(
                .anchorGone,
                "The TPM does not open the key of the enrolled fingers and faces: its counter was removed or incremented "
                    + "by another program.", hint: "Accept the store as it is with: latchkey check --accept",
                cause: cause))
    }
}

extension TPMClient {
    /// Adds to the policy of a session that a counter has a number (`TPM2_PolicyNV`).
    fileprivate mutating func demand(
        _ number: UInt64, of index: TPMIndexArea, _ policy: TPMSession, in root: StorageRoot
    ) throws(TPMError) {
        let entity = try entity(index)
        let parameters = try failing { () throws(Failure) in try TPMNumberDemand.parameters(number) }
        _ = try inSession(.hmac, of: root) { (client, session) throws(TPMError) in
            try client.send(.policyNV, [entity, entity, TPMEntity(policy.handle)], parameters, in: &session).response
        }
    }
}
