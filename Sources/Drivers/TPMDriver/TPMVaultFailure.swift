// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

extension TPMError {
    /// The error as one of a vault: what the user can do about it depends on the command that was refused.
    ///
    /// - Parameter path: the file of the sealed root key.
    func inVault(_ path: String) -> TPMError {
        switch self {
        case .failed(let failure) where failure.status == .tpmReplaced: .failed(Self.replaced(path, failure))
        case .refused(let code, let command): .failed(refusal(code.kind, command, path) ?? unavailable)
        case .failed(let failure) where failure.status == .enclaveUnavailable: .failed(unavailable)
        case .failed: self
        }
    }

    /// The general failure of a device that cannot be used.
    private var unavailable: Failure {
        Failure(.vaultUnavailable, failure.message, hint: failure.hint, cause: failure)
    }

    private static func replaced(_ path: String, _ cause: Failure) -> Failure {
        Failure(
            .tpmReplaced, "\(path) was sealed by another TPM, or this TPM was cleared since then. Nothing was changed.",
            hint: "Use the TPM that sealed it, or open the store with its recovery code.", cause: cause)
    }

    /// The failure for a refusal with a certain cause; nil for any other one.
    private func refusal(_ kind: TPMResponseCode, _ command: TPMCommand, _ path: String) -> Failure? {
        switch (command, kind) {
        case (.load, .integrity), (.load, .size): SealedRootKey.damaged(path, self)
        case (.load, .badAuthorization), (.create, .badAuthorization):
            Failure(
                .vaultUnavailable, "Another program has given the storage root key of the TPM a password.",
                hint: "Remove the key, it is made again without one: tpm2_evictcontrol -c 0x81000001", cause: self)
        case (.unseal, .policyFailed), (.unseal, .pcrChanged):
            Failure(
                .vaultUnavailable,
                "The TPM does not unseal the root key: the state of Secure Boot (PCR 7) is not the one at which it was "
                    + "sealed. An update of the firmware or of the boot loader changes it.",
                hint: "Start the machine as before the update, or open the store with its recovery code.", cause: self)
        case (.nvDefineSpace, .indexMemory):
            Failure(
                .vaultUnavailable, "The TPM has no room for the counter of the store.",
                hint: "Remove an index that nothing uses any more. See: tpm2_getcap handles-nv-index", cause: self)
        case (.nvRead, .badAuthorization), (.nvIncrement, .badAuthorization):
            Failure(
                .vaultUnavailable,
                "Another program has removed the counter of the store and made one with a password in its place.",
                hint: "Remove that index with tpm2_nvundefine. Then: latchkey check --accept", cause: self)
        default: nil
        }
    }
}
