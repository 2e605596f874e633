// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
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

    /// `TPM2_PolicyNV`: the counter with that name has that number.
    package func number(_ number: UInt64, of name: [UInt8]) throws(Failure) -> PolicyDigest {
        var code = TPMWriter()
        code.add(TPMCommand.policyNV.rawValue)
        return try extended(
            code.bytes + DigestAlgorithm.sha256.hash(TPMNumberDemand.operand(number) + TPMNumberDemand.equality) + name)
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

    /// The policy of a key of the Secure Enclave: the authority approves the command, the passcode is proven, or both, and
    /// then the password of the key is needed if it has one.
    package static func enclaveKey(
        authority: TPMPoint, reference: [UInt8], passcode: PasscodeDemand? = nil, needsPassword: Bool
    ) throws(Failure) -> PolicyDigest {
        let branches = try keyBranches(authority: authority, reference: reference, passcode: passcode)
        let proven = branches.count > 1 ? try any(of: branches) : branches[0]
        return needsPassword ? try proven.authorizationValue() : proven
    }

    /// The branches of the policy of a key before its password, the one with the approval first. `TPM2_PolicyOR` follows
    /// if there are two.
    package static func keyBranches(
        authority: TPMPoint, reference: [UInt8], passcode: PasscodeDemand?
    ) throws(Failure) -> [PolicyDigest] {
        let name = try TPMPublicArea.authority(authority).name()
        let approved = try PolicyDigest().signed(by: name, reference: reference)
        guard let passcode else { return [approved] }
        let proven = try PolicyDigest().secret(of: passcode.verifier, reference: reference)
        switch passcode.part {
        case .alone: return [proven]
        case .either: return [approved, proven]
        case .both: return [try proven.signed(by: name, reference: reference)]
        }
    }

    /// The parameters of `TPM2_PolicyOR`.
    package static func choice(of branches: [PolicyDigest]) throws(Failure) -> [UInt8] {
        var parameters = TPMWriter()
        parameters.add(UInt32(branches.count))
        for branch in branches { try parameters.add(sized: branch.bytes) }
        return parameters.bytes
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

/// The comparison of `TPM2_PolicyNV` with the whole number of a counter.
package enum TPMNumberDemand {
    static func operand(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// From the first byte, `TPM_EO_EQ`.
    static let equality: [UInt8] = [0, 0, 0, 0]

    package static func parameters(_ number: UInt64) throws(Failure) -> [UInt8] {
        var parameters = TPMWriter()
        try parameters.add(sized: operand(number))
        parameters.add(equality)
        return parameters.bytes
    }
}

/// The reference (`policyRef`) that the policy of a key contains, and each approval of its use. An authority computes it
/// itself, so that an approval for one access control is not valid for a key with another.
package enum KeyPolicyReference {
    /// Returns the reference, 32 bytes: SHA-256 of the label, the user, the store, the access control and the set.
    ///
    /// - Parameters:
    ///   - storeID: 16 bytes.
    ///   - enrolment: the enrolment set to which the access control binds the key; nil if it binds it to none.
    ///   - epoch: tells two times of the same set from each other; empty for a set that has never changed.
    ///   - passcode: how the key demands the passcode; nil if it relies on the authority for that. An approval for one
    ///     kind of key is not valid for the other.
    package static func make(
        userID: UInt32, storeID: [UInt8], _ accessControl: AccessControl, enrolment: EnrolmentSet?,
        epoch: [UInt8] = [], passcode: PasscodeDemand.Part? = nil
    ) throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        let label: CryptographicLabel = passcode == nil ? .keyPolicy : .passcodeKeyPolicy
        writer.add(label.bytes)
        writer.add(passcode?.rawValue ?? 0)
        writer.add(userID)
        try writer.add(sized: storeID)
        writer.add(accessControl.boundBytes)
        try writer.add(sized: enrolment?.bytes ?? [])
        if !epoch.isEmpty { try writer.add(sized: epoch) }
        return try DigestAlgorithm.sha256.hash(writer.bytes)
    }
}
