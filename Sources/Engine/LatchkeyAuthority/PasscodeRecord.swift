// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams

// The keys that `latchkey-authd` derives from a passcode.

extension PasscodeRecord {
    /// Makes the record of a new passcode and the key of its slot. Blocks for the duration of scrypt.
    package static func make(
        _ passcode: SecretBytes, passcodeID: [UInt8], cost: UInt8, salt: [UInt8], kind: PasscodeKind = .own
    ) throws(Failure) -> (record: PasscodeRecord, slotKey: SecretBytes) {
        let stretched = try stretch(passcode, salt: salt, cost: cost)
        guard
            let record = PasscodeRecord(
                cost: cost, salt: salt, passcodeID: passcodeID, verifier: try verifier(stretched, passcodeID),
                kind: kind
            )
        else { throw notAccepted }
        return (record, try slotKey(stretched))
    }

    /// Returns the key of the slot if the passcode is right; nil otherwise. Blocks for the duration of scrypt.
    package func open(_ passcode: SecretBytes) throws(Failure) -> SecretBytes? {
        let stretched = try Self.stretch(passcode, salt: salt, cost: cost)
        // `SecretBytes` compares in constant time.
        guard SecretBytes(try Self.verifier(stretched, passcodeID)) == SecretBytes(verifier) else { return nil }
        return try Self.slotKey(stretched)
    }

    /// A byte 01 is appended to the passcode: the HMAC inside scrypt pads a short key with zeros, so passcodes that
    /// differ only in trailing zero bytes would otherwise give the same key.
    static func stretch(_ passcode: SecretBytes, salt: [UInt8], cost: UInt8) throws(Failure) -> SymmetricKey {
        let closed = SecretBytes(count: passcode.count + 1) { target in
            passcode.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[..<$0.count]).copyMemory(from: $0) }
            target[passcode.count] = 1
        }
        return try SymmetricKey.stretching(closed, salt: salt, cost: cost)
    }

    private static func verifier(_ stretched: SymmetricKey, _ passcodeID: [UInt8]) throws(Failure) -> [UInt8] {
        try stretched.derive(.passcodeVerifier).authenticationCode(passcodeID)
    }

    /// HKDF(HKDF(P, "slot") ‖ K_pass), where K_pass is the secret that a chip returned, if one verifies the passcode.
    static func slotKey(_ stretched: SymmetricKey, _ chipSecret: SecretBytes? = nil) throws(Failure) -> SecretBytes {
        let half = try stretched.derive(.slotHalf).secret
        return try SymmetricKey.combining([half, chipSecret].compactMap(\.self), label: .slotKey).secret
    }

    static let notAccepted = Failure(.internalFailure, "The parameters of a passcode are not accepted.")
}
