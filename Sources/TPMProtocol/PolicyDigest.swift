// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys
package import LatchkeyModel

/// The digest of a policy, extended as the TPM does with each policy command (TPM 2.0 Library, Part 3, section 23).
package struct PolicyDigest: Equatable, Sendable {
    /// 32 bytes; zeros for a policy without a step.
    package private(set) var bytes: [UInt8]

    /// The number of branches that `TPM2_PolicyOR` takes.
    package static let branches = 2...8

    /// A policy without a step.
    package init() { bytes = [UInt8](repeating: 0, count: TPMPublicArea.digestBytes) }

    /// `TPM2_PolicySigned`: an approval by the key with that name, for that reference.
    package func signed(by name: [UInt8], reference: [UInt8]) throws(Failure) -> PolicyDigest {
        try extended(.policySigned, name).extended(reference)
    }

    /// `TPM2_PolicySecret`: a proof that the authorization value of the entity with that name is known.
    package func secret(of name: [UInt8], reference: [UInt8] = []) throws(Failure) -> PolicyDigest {
        try extended(.policySecret, name).extended(reference)
    }

    /// `TPM2_PolicyAuthValue`: the authorization value of the object itself.
    package func authorizationValue() throws(Failure) -> PolicyDigest { try extended(.policyAuthValue, []) }

    /// `TPM2_PolicyPCR`: the selected PCRs have those values.
    ///
    /// - Parameter values: the values in the order of their numbers.
    package func registers(_ selection: TPMRegisters, values: [[UInt8]]) throws(Failure) -> PolicyDigest {
        try extended(.policyPCR, selection.encoded + DigestAlgorithm.sha256.hash(values.flatMap(\.self)))
    }

    /// `TPM2_PolicyCommandCode`: that command only.
    package func command(_ command: TPMCommand) throws(Failure) -> PolicyDigest {
        var writer = TPMWriter()
        writer.add(command.rawValue)
        return try extended(.policyCommandCode, writer.bytes)
    }

    /// `TPM2_PolicyOR`: one of the branches. Throws `internalFailure` unless there are 2 to 8.
    package static func any(of branches: [PolicyDigest]) throws(Failure) -> PolicyDigest {
        guard Self.branches.contains(branches.count) else {
            throw Failure(.internalFailure, "A policy of a TPM cannot have \(branches.count) branches.")
        }
        return try PolicyDigest().extended(.policyOR, branches.flatMap(\.bytes))
    }

    /// The policy of a key of the Secure Enclave: the authority approves the command, and then the password of the key is
    /// needed if it has one.
    package static func enclaveKey(
        authority: TPMPoint, reference: [UInt8], needsPassword: Bool
    ) throws(Failure) -> PolicyDigest {
        let approved = try PolicyDigest().signed(by: TPMPublicArea.authority(authority).name(), reference: reference)
        return needsPassword ? try approved.authorizationValue() : approved
    }

    private func extended(_ command: TPMCommand, _ data: [UInt8]) throws(Failure) -> PolicyDigest {
        var writer = TPMWriter()
        writer.add(command.rawValue)
        return try extended(writer.bytes + data)
    }

    private func extended(_ data: [UInt8]) throws(Failure) -> PolicyDigest {
        var digest = self
        digest.bytes = try DigestAlgorithm.sha256.hash(bytes + data)
        return digest
    }
}
