// SPDX-License-Identifier: Apache-2.0

package import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams

/// The keys that are derived from the recovery code of a keychain. A code has enough random bits that it is not
/// stretched, and no two of the keys can be computed from each other.
package struct RecoveryKeys: Sendable {
    /// Opens what was encrypted for the code.
    private let scalar: PrivateScalar
    private let publicKey: [UInt8]
    /// What latchkeyd opens the root key of the store with, 32 bytes.
    package let rootKey: SecretBytes
    /// Seals the key that approves uses of keys.
    private let approvalSeal: SymmetricKey

    /// Derives the keys; nil for one code in about 2^32, whose derived number is no private key.
    package init?(_ code: RecoveryCode) throws(Failure) {
        let number = try SymmetricKey.combining([code.characters], label: .recoveryKey).secret
        guard let scalar = PrivateScalar(number, curve: .p256), let publicKey = scalar.publicPoint else { return nil }
        (self.scalar, self.publicKey) = (scalar, publicKey)
        rootKey = try SymmetricKey.combining([code.characters], label: .recoveryRoot).secret
        approvalSeal = try SymmetricKey.combining([code.characters], label: .recoveryApproval)
    }

    /// Whether a record belongs to this code.
    package func fit(_ record: RecoveryRecord) -> Bool { record.publicKey == publicKey }

    /// Makes the record of this code.
    ///
    /// - Parameters:
    ///   - approvalKey: the key that approves uses of keys, 32 bytes.
    ///   - userID: the user whose keys these are.
    package func record(
        of slotKeys: [SecretBytes], approvalKey: SecretBytes, userID: UInt32, passcodeID: [UInt8],
        _ random: any RandomSource
    ) throws(Failure) -> RecoveryRecord {
        let approval = try approvalSeal.seal(
            approvalKey, nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes(),
            authenticating: Self.associated(userID, passcodeID))
        return try RecoveryRecord.sealed(slotKeys, approval: approval, for: publicKey, passcodeID: passcodeID, random)
    }

    /// Binds the key that approves uses of keys to the user and to the secret of the passcode. The public key alone does
    /// not suffice to seal one, so a record that another process has stored has the key of this machine or none.
    private static func associated(_ userID: UInt32, _ passcodeID: [UInt8]) -> [UInt8] {
        CryptographicLabel.recoveryApproval.bytes + withUnsafeBytes(of: userID.bigEndian, Array.init) + passcodeID
    }

    /// Returns the keys of slots in a record of this code, and the key that approves uses of keys.
    package func open(
        _ record: RecoveryRecord, userID: UInt32
    ) throws(Failure) -> (slotKeys: [SecretBytes], approvalKey: SecretBytes) {
        let width = RecoveryRecord.pointBytes
        let passcodeID = record.passcodeID
        guard fit(record), record.sealed.count > width,
            let agreed = try scalar.agree(Array(record.sealed[..<width])),
            let joined = try RecoveryRecord.key(agreed, Array(record.sealed[..<width]), publicKey)
                .open(record.sealed[width...], authenticating: RecoveryRecord.associated(passcodeID)),
            joined.count > 0, joined.count.isMultiple(of: SymmetricKey.byteCount),
            let approvalKey = try approvalSeal.open(
                record.approval[...], authenticating: Self.associated(userID, passcodeID))
        else {
            throw Failure(
                .storeUnreadable, "The record of the recovery code was changed.",
                hint: "Restore the folder of latchkey-authd from a backup.")
        }
        return (Self.split(joined), approvalKey)
    }

    private static func split(_ joined: SecretBytes) -> [SecretBytes] {
        joined.withBytes { bytes in
            stride(from: 0, to: bytes.count, by: SymmetricKey.byteCount).map { start in
                SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[start..<start + SymmetricKey.byteCount]))
            }
        }
    }
}

extension RecoveryRecord {
    fileprivate static let pointBytes = 65

    /// Returns the record of the same code with other keys of slots.
    fileprivate func replacing(
        with slotKeys: [SecretBytes], _ random: any RandomSource
    ) throws(Failure) -> RecoveryRecord {
        try Self.sealed(slotKeys, approval: approval, for: publicKey, passcodeID: passcodeID, random)
    }

    /// Encrypts keys of 32 bytes: a new public key, then the keys under a key that both private keys can compute.
    fileprivate static func sealed(
        _ slotKeys: [SecretBytes], approval: [UInt8], for publicKey: [UInt8], passcodeID: [UInt8],
        _ random: any RandomSource
    ) throws(Failure) -> RecoveryRecord {
        guard (1...RecoveryGrant.slotKeys).contains(slotKeys.count),
            slotKeys.allSatisfy({ $0.count == SymmetricKey.byteCount }),
            let ephemeral = PrivateScalar(try random.bytes(32), curve: .p256), let point = ephemeral.publicPoint,
            let agreed = try ephemeral.agree(publicKey)
        else {
            throw Failure(.internalFailure, "The keys cannot be encrypted for a recovery code.", hint: "Try again.")
        }
        let joined = SecretBytes(count: slotKeys.count * SymmetricKey.byteCount) { target in
            for (index, key) in slotKeys.enumerated() {
                let start = index * SymmetricKey.byteCount
                key.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: $0) }
            }
        }
        let sealed = try key(agreed, point, publicKey).seal(
            joined, nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes(), authenticating: associated(passcodeID))
        let record = RecoveryRecord(
            publicKey: publicKey, passcodeID: passcodeID, sealed: point + sealed, approval: approval)
        guard let record else {
            throw Failure(.internalFailure, "The record of a recovery code is not accepted.")
        }
        return record
    }

    /// The key of one encryption: both public keys are part of it.
    fileprivate static func key(
        _ agreed: SecretBytes, _ point: [UInt8], _ publicKey: [UInt8]
    ) throws(Failure) -> SymmetricKey {
        try SymmetricKey.combining([agreed, SecretBytes(point + publicKey)], label: .recoverySlot)
    }

    /// Binds the keys to the secret that their slots seal.
    fileprivate static func associated(_ passcodeID: [UInt8]) -> [UInt8] {
        CryptographicLabel.recoverySlot.bytes + passcodeID
    }
}

extension PasscodeRecords {
    /// Encrypts the keys of the present slots for the recovery codes, whichever of them is valid.
    ///
    /// - Parameter slotKeys: 32 bytes each, at most `RecoveryGrant.slotKeys`.
    package mutating func encryptForRecovery(_ slotKeys: [SecretBytes], _ random: any RandomSource) throws(Failure) {
        recovery = try recovery?.replacing(with: slotKeys, random)
        preparedRecovery = try preparedRecovery?.replacing(with: slotKeys, random)
    }
}
