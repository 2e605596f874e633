// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import TPMProtocol
import Testing

/// An authority that approves every challenge.
enum TestAuthority {
    private static let key = Result { () throws(Failure) in try PrivateKey.generate(.p256) }

    /// The binding of keys that it approves.
    static let binding = KeyBinding(
        authority: (try? key.get().publicKey.externalRepresentation) ?? [],
        reference: [UInt8](repeating: 0x52, count: 32))

    /// Approves a challenge; nil for one that needs no approval.
    static func approval(of challenge: KeyChallenge) -> KeyApproval? {
        challenge.subject.flatMap { try? approve($0, nonce: challenge.nonce, reference: $0.policyReference) }
    }

    /// Signs an approval with the given parts.
    ///
    /// - Parameter seconds: the expiry. The TPM counts it by a clock of its own, which tests do not control, from the
    ///   nonce of a session that the module may have cached from an earlier use; on a busy machine a minute is too
    ///   short.
    static func approve(
        _ subject: ApprovalSubject, nonce: [UInt8], reference: [UInt8], seconds: Int32 = 3600,
        signer: PrivateKey? = nil
    ) throws -> KeyApproval {
        let text = try ApprovalText(
            nonce: nonce, expirySeconds: seconds,
            command: CommandDigest.command(
                number: subject.command, names: [subject.keyName], parameters: subject.parameters),
            reference: reference)
        let scalar = try (signer ?? key.get()).externalRepresentation.withBytes { SecretBytes($0.suffix(32)) }
        let signature = try #require(PrivateScalar(scalar, curve: .p256))
            .sign(DigestAlgorithm.sha256.hash(text.bytes))
        return KeyApproval(expirySeconds: seconds, signature: signature.copyBytes())
    }
}
