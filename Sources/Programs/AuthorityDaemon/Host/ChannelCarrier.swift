// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Has latchkeyd pass commands to the TPM, on one connection.
final class ChannelCarrier: CommandCarrier {
    private struct WeakConnection: Sendable { weak var connection: AuthorityConnection? }
    private let connection = Mutex(WeakConnection())

    /// Sets the connection; called once, before the first command.
    func use(_ connection: AuthorityConnection) { self.connection.withLock { $0.connection = connection } }

    func carry(_ command: [UInt8], for purpose: CarriedPurpose) throws(Failure) -> [UInt8] {
        guard let connection = connection.withLock({ $0.connection }) else {
            throw Failure(.systemCancel, "The connection between the services ended.")
        }
        let call: StoreCall =
            switch purpose {
            case .passcode: .carry(TPMBytes(command))
            case .proof: .carryProof(TPMBytes(command))
            case .preparation: .carryPreparation(TPMBytes(command))
            }
        switch try connection.call(call) {
        case .carried(let response): return response.bytes
        case .failure(let failure): throw failure
        case .done, .opened: throw Failure(.internalFailure, "latchkeyd sent a reply of another kind.")
        }
    }

    /// latchkeyd removes what remains when the connection ends.
    func endCarrying() {}
}
