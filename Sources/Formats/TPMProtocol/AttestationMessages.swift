// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A message between a device and a relying party (`docs/reference/device-proof.md`).
package protocol AttestationMessage: Equatable, Sendable {
    static var kind: UInt8 { get }
    /// Reads what follows the first two bytes.
    init(reading reader: inout TPMReader) throws(Failure)
    /// Writes what follows the first two bytes.
    func write(_ writer: inout TPMWriter) throws(Failure)
}

extension AttestationMessage {
    /// The format version, the first byte.
    private static var version: UInt8 { 1 }

    package func encoded() throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(Self.version)
        writer.add(Self.kind)
        try write(&writer)
        return writer.bytes
    }

    /// Decodes a message. Throws `TPMReader.malformed` for any bytes that `encoded` does not produce.
    package init(decoding bytes: [UInt8]) throws(Failure) {
        var reader = TPMReader(bytes)
        try reader.expect(Self.version)
        try reader.expect(Self.kind)
        try self.init(reading: &reader)
        try reader.checkEnd()
    }
}

/// The first message of the enrolment, from the device: who it is, and the key with which it will attest.
package struct EnrolmentRequest: AttestationMessage {
    package var endorsementKey: [UInt8]
    /// Certificates in DER: that of the endorsement key first, then those of its issuers; empty if the device has none.
    package var certificates: [[UInt8]]
    package var attestationKey: [UInt8]

    package static var kind: UInt8 { 1 }

    package static let certificateLimit = 8
    /// Bytes of a certificate at most.
    package static let certificateBytes = 4096

    package init(endorsementKey: [UInt8], certificates: [[UInt8]], attestationKey: [UInt8]) {
        (self.endorsementKey, self.certificates, self.attestationKey) = (endorsementKey, certificates, attestationKey)
    }

    package init(reading reader: inout TPMReader) throws(Failure) {
        endorsementKey = try reader.sized(limit: EndorsementKey.areaBytes)
        let count = try reader.uint8()
        guard count <= Self.certificateLimit else { throw TPMReader.malformed }
        certificates = []
        for _ in 0..<count { certificates.append(try reader.sized(limit: Self.certificateBytes)) }
        attestationKey = try reader.sized(limit: EndorsementKey.areaBytes)
    }

    package func write(_ writer: inout TPMWriter) throws(Failure) {
        guard let count = UInt8(exactly: certificates.count) else {
            throw Failure(.internalFailure, "A request of an enrolment has \(certificates.count) certificates.")
        }
        try writer.add(sized: endorsementKey)
        writer.add(count)
        for certificate in certificates { try writer.add(sized: certificate) }
        try writer.add(sized: attestationKey)
    }
}

/// The second message, from the relying party: a secret that only the TPM with both keys can decrypt.
package struct EnrolmentChallenge: AttestationMessage {
    /// The protected secret (`TPMS_ID_OBJECT`).
    package var credential: [UInt8]
    /// The seed of its protection, encrypted for the endorsement key (the contents of `TPM2B_ENCRYPTED_SECRET`).
    package var seed: [UInt8]

    package static var kind: UInt8 { 2 }

    package init(credential: [UInt8], seed: [UInt8]) { (self.credential, self.seed) = (credential, seed) }

    package init(reading reader: inout TPMReader) throws(Failure) {
        credential = try reader.sized(limit: 128)
        seed = try reader.sized(limit: 512)
    }

    package func write(_ writer: inout TPMWriter) throws(Failure) {
        try writer.add(sized: credential)
        try writer.add(sized: seed)
    }
}

/// The last message of the enrolment, from the device: the decrypted secret.
package struct EnrolmentAnswer: AttestationMessage {
    package var secret: [UInt8]

    package static var kind: UInt8 { 3 }

    package init(secret: [UInt8]) { self.secret = secret }

    package init(reading reader: inout TPMReader) throws(Failure) { secret = try reader.sized(limit: 64) }

    package func write(_ writer: inout TPMWriter) throws(Failure) { try writer.add(sized: secret) }
}

/// The proof for one key, from the device.
package struct KeyProof: AttestationMessage {
    package var key: [UInt8]
    /// What the attestation key signed (`TPMS_ATTEST`).
    package var statement: [UInt8]
    /// r and s of its signature, 32 bytes each.
    package var signature: [UInt8]
    /// The public key of the authority that approves each use, a P-256 point in X9.63 format, 65 bytes.
    package var authority: [UInt8]
    /// The reference of the key's policy, 32 bytes.
    package var reference: [UInt8]
    /// How each use needs the passcode of the device; nil if the authority alone decides about it.
    package var passcode: PasscodeDemand?
    /// Whether each use needs the application password of the key, too.
    package var needsPassword: Bool

    package static var kind: UInt8 { 4 }

    package init(
        key: [UInt8], statement: [UInt8], signature: [UInt8], authority: [UInt8], reference: [UInt8],
        passcode: PasscodeDemand? = nil, needsPassword: Bool
    ) {
        (self.key, self.statement, self.signature) = (key, statement, signature)
        (self.authority, self.reference, self.needsPassword) = (authority, reference, needsPassword)
        self.passcode = passcode
    }

    package init(reading reader: inout TPMReader) throws(Failure) {
        key = try reader.sized(limit: EndorsementKey.areaBytes)
        statement = try reader.sized(limit: 512)
        signature = try reader.bytes(64)
        authority = try reader.bytes(65)
        reference = try reader.bytes(32)
        let flags = try reader.uint8()
        guard flags < 8 else { throw TPMReader.malformed }
        needsPassword = flags & 1 == 1
        // Bits 1 and 2 have the part; 0 is none.
        guard let part = PasscodeDemand.Part(rawValue: flags >> 1) else {
            passcode = nil
            return
        }
        passcode = PasscodeDemand(part, verifier: try reader.bytes(PasscodeDemand.verifierBytes))
    }

    package func write(_ writer: inout TPMWriter) throws(Failure) {
        guard signature.count == 64, authority.count == 65, reference.count == 32 else {
            throw Failure(.internalFailure, "A part of a key's proof has the wrong length.")
        }
        try writer.add(sized: key)
        try writer.add(sized: statement)
        for part in [signature, authority, reference] { writer.add(part) }
        writer.add((needsPassword ? 1 : 0 as UInt8) | (passcode?.part.rawValue ?? 0) << 1)
        guard let passcode else { return }
        guard passcode.verifier.count == PasscodeDemand.verifierBytes else {
            throw Failure(.internalFailure, "The name of the passcode's index has the wrong length.")
        }
        writer.add(passcode.verifier)
    }
}
