// SPDX-License-Identifier: Apache-2.0

package import LatchkeyCrypto
import LatchkeyKeys
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

    /// Derives the keys; nil for one code in about 2^32, whose derived number is no private key.
    package init?(_ code: RecoveryCode) throws(Failure) {
        let number = try SymmetricKey.combining([code.characters], label: .recoveryKey).secret
        guard let scalar = PrivateScalar(number, curve: .p256), let publicKey = scalar.publicPoint else { return nil }
        (self.scalar, self.publicKey) = (scalar, publicKey)
        rootKey = try SymmetricKey.combining([code.characters], label: .recoveryRoot).secret
    }

    /// Whether a record belongs to this code.
    package func fit(_ record: RecoveryRecord) -> Bool { record.publicKey == publicKey }

    /// Makes the record of this code.
    package func record(
        of slotKeys: [SecretBytes], passcodeID: [UInt8], _ random: any RandomSource
    ) throws(Failure) -> RecoveryRecord {
        try RecoveryRecord.sealed(slotKeys, for: publicKey, passcodeID: passcodeID, random)
    }

    /// Returns the keys of slots in a record of this code.
    package func open(_ record: RecoveryRecord, passcodeID: [UInt8]) throws(Failure) -> [SecretBytes] {
        let width = RecoveryRecord.pointBytes
        guard fit(record), record.sealed.count > width,
            let agreed = try scalar.agree(Array(record.sealed[..<width])),
            let joined = try RecoveryRecord.key(agreed, Array(record.sealed[..<width]), publicKey)
                .open(record.sealed[width...], authenticating: RecoveryRecord.associated(passcodeID)),
            joined.count > 0, joined.count.isMultiple(of: SymmetricKey.byteCount)
        else {
            throw Failure(
                .storeUnreadable, "The record of the recovery code was changed.",
                hint: "Restore the folder of latchkey-authd from a backup.")
        }
        return joined.withBytes { bytes in
            stride(from: 0, to: bytes.count, by: SymmetricKey.byteCount).map { start in
                SecretBytes(
                    copying: UnsafeRawBufferPointer(rebasing: bytes[start..<start + SymmetricKey.byteCount]))
            }
        }
    }
}

extension RecoveryRecord {
    fileprivate static let pointBytes = 65

    /// Returns the record of the same code with other keys of slots.
    fileprivate func replacing(
        with slotKeys: [SecretBytes], passcodeID: [UInt8], _ random: any RandomSource
    ) throws(Failure) -> RecoveryRecord {
        try Self.sealed(slotKeys, for: publicKey, passcodeID: passcodeID, random)
    }

    /// Encrypts keys of 32 bytes: a new public key, then the keys under a key that both private keys can compute.
    fileprivate static func sealed(
        _ slotKeys: [SecretBytes], for publicKey: [UInt8], passcodeID: [UInt8], _ random: any RandomSource
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
        guard let record = RecoveryRecord(publicKey: publicKey, sealed: point + sealed) else {
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
    package mutating func encryptForRecovery(
        _ slotKeys: [SecretBytes], passcodeID: [UInt8], _ random: any RandomSource
    ) throws(Failure) {
        recovery = try recovery?.replacing(with: slotKeys, passcodeID: passcodeID, random)
        preparedRecovery = try preparedRecovery?.replacing(with: slotKeys, passcodeID: passcodeID, random)
    }
}
