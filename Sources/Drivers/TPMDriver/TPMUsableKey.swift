// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization
import TPMProtocol

/// A key with what its uses need, which is computed once from its blob and not again at each step of a use.
struct TPMUsableKey: Sendable {
    let blob: TPMBlob
    let name: [UInt8]
    let authority: TPMPublicArea
    let authorityName: [UInt8]
    /// The parameters of `TPM2_PolicyOR`; nil if the policy has no choice.
    let choice: [UInt8]?

    /// Decodes a blob; throws what `TPMBlob` throws.
    init(_ blob: SecretBytes) throws(Failure) {
        self.blob = try TPMBlob(blob)
        name = try self.blob.area.name()
        authority = try TPMBlob.authority(self.blob.binding)
        authorityName = try authority.name()
        let branches = try TPMBlob.branches(self.blob.binding)
        choice = branches.isEmpty ? nil : try PolicyDigest.choice(of: branches)
    }

    /// What the authority must approve for an operation; throws `invalidParameter` for input that the TPM cannot take.
    func subject(_ operation: EnclaveOperation) throws(Failure) -> ApprovalSubject {
        ApprovalSubject(
            keyName: name, command: operation.command.rawValue, parameters: try operation.parameters(),
            policyReference: blob.binding.reference, passcode: blob.binding.passcode)
    }
}

/// The key that was used last: apps sign several times with the same one.
final class LatestTPMKey: Sendable {
    private let latest = Mutex<(blob: SecretBytes, key: TPMUsableKey)?>(nil)

    /// Decodes a blob, unless it is the one of the last call. All bytes are compared, so that an edited blob is never taken
    /// for one that was checked.
    func decode(_ blob: SecretBytes) throws(Failure) -> TPMUsableKey {
        if let known = latest.withLock({ $0 }), known.blob == blob { return known.key }
        let key = try TPMUsableKey(blob)
        latest.withLock { $0 = (blob, key) }
        return key
    }
}
