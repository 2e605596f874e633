// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutProofs: Phrase = """
        The side of a relying party: enrols a device, and verifies that keys cannot leave it. Uses no daemon and no TPM.
        The messages come from latchkey key enroll, answer and attest on the device.
        docs/reference/device-proof.md has the format.
        """

    private static let party = CommandArgument("PARTY")

    /// The verbs of `key` about attestation.
    static let attestation = [
        CommandEntry(
            "key enroll", "identify this device to a relying party, after a prompt", [party], form + result,
            about: """
                Makes an attestation key for PARTY, such as example.com, and writes the message with which its enrolment
                begins. The message identifies this device for as long as it exists, so the daemon's prompt asks first.
                Keys must be in a TPM, and a passcode must be set. The attestation key is stored in this access group.
                """, action: KeyAttestation.enroll),
        CommandEntry(
            "key answer", "answer the challenge of a relying party; never prompts", [party, .input], form + result,
            action: KeyAttestation.answer),
        CommandEntry(
            "key attest", "prove to a relying party that a key cannot leave this device", [.key],
            [
                CommandOption(.party, "the relying party with which this device is enrolled (required)"),
                CommandOption(.nonce, "its nonce, 16 to 64 bytes in hexadecimal digits (required)"),
            ] + form + result,
            about: """
                Writes a proof that the key was made in the TPM of this device and cannot leave it. That each use needs
                the user is claimed by the proof, and not proven. A protected key prompts, as for a signature.
                """, action: KeyAttestation.attest),
    ]

    static let proofs = [
        CommandEntry(
            "proof challenge", "check the request of a device, and write a challenge for it", [.input],
            [
                CommandOption(.state, "a new file for the secret of the challenge (required)"),
                CommandOption(.root, "certificates of makers of TPMs that are trusted, in PEM or DER"),
                CommandOption(.known, "accept the device with this endorsement key, as a virtual one"),
            ] + form + result,
            about: """
                Checks that a maker whose certificate is in --root certified the TPM of the device. Keep the file of
                --state secret, and for a few minutes only.
                """, action: ProofCommand.challenge),
        CommandEntry(
            "proof accept", "check the answer of a device, and write the file of the enrolled device", [.input],
            [CommandOption(.state, "the file that challenge wrote; it is deleted (required)")] + form + result,
            action: ProofCommand.accept),
        CommandEntry(
            "proof verify", "verify the proof for a key: exit code 0 if it is valid, 1 if not", [.input],
            [
                CommandOption(.device, "the file that accept wrote (required)"),
                CommandOption(.publicKey, "the key, from: latchkey key public --format x963 (required)"),
                CommandOption(.nonce, "the nonce that the device received, in hexadecimal digits (required)"),
            ],
            about: """
                Says what is proven (in which kind of device the key is) and what is only claimed (that each use needs
                the user). Accept each nonce once only.
                """, action: ProofCommand.verify),
    ]
}
