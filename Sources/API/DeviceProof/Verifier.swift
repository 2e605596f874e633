// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol

/// Verifies that keys of the Secure Enclave of Latchkey are in a TPM, which they cannot leave.
///
/// A relying party enrols a device once and then verifies any number of its keys:
///
/// 1. ``begin(_:at:)`` checks the device's request and makes a challenge, which only the TPM can answer.
/// 2. ``PendingEnrollment/finish(_:)`` checks the answer. The relying party stores the ``EnrolledDevice``.
/// 3. ``verify(_:of:nonce:by:)`` checks the proof for one key.
///
/// `docs/reference/device-proof.md` defines the messages and each check. All functions compute in this process, contact
/// no daemon and need no TPM. The type is immutable and usable from any thread.
public struct Verifier: Sendable {
    private let anchors: CertificateChains
    private let knownEndorsementKeys: [[UInt8]: DeviceKind]

    /// Bytes of the nonces that a device accepts.
    public static let nonceBytes = 16...64

    /// Creates a verifier.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - roots: the certificates that are trusted, in DER: roots of makers of TPMs, or issuers below them. Pin those
    ///     of the makers whose chips you accept. A pinned certificate decides for all devices below it, so do not pin
    ///     one that also certifies keys which are not in a TPM.
    ///   - intermediates: certificates in DER that may be links of a chain. They are not trusted by themselves.
    ///   - knownEndorsementKeys: the kinds of devices without certificates, by the name of their endorsement key (34
    ///     bytes, ``EnrolledDevice/endorsementKeyName``), which was read in a trustworthy place.
    /// - Throws: `invalidParameter` if a certificate cannot be read.
    public init(
        roots: [[UInt8]], intermediates: [[UInt8]] = [], knownEndorsementKeys: [[UInt8]: DeviceKind] = [:]
    ) throws(DeviceProofError) {
        anchors = CertificateChains(roots: try Self.parse(roots), intermediates: try Self.parse(intermediates))
        self.knownEndorsementKeys = knownEndorsementKeys
    }

    private static func parse(_ certificates: [[UInt8]]) throws(DeviceProofError) -> [X509] {
        var parsed: [X509] = []
        for der in certificates {
            guard let certificate = X509(der: der) else {
                throw DeviceProofError(.invalidParameter, "A certificate given to the verifier is not one in DER.")
            }
            parsed.append(certificate)
        }
        return parsed
    }

    // MARK: - Enrolment

    /// Checks the request of a device and makes the challenge.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - request: the first message of the enrolment.
    ///   - seconds: the current time, in seconds since 1970.
    /// - Returns: the enrolment, whose ``PendingEnrollment/challenge`` the device must answer.
    /// - Throws: `malformed`, `unsupportedEndorsementKey`, `unknownEndorsementKey`, `untrustedChain`,
    ///   `notAnEndorsementCertificate`, `otherEndorsementKey` or `unsuitableAttestationKey` for a request that is not
    ///   accepted; `internalFailure` if libcrypto fails.
    public func begin(_ request: [UInt8], at seconds: Int64) throws(DeviceProofError) -> PendingEnrollment {
        let (message, key) = try Self.read(request)
        let name = try computing { () throws(Failure) in try key.name() }
        let kind = try deviceKind(of: key, name, message.certificates, at: seconds)
        let attestationKey = try AttestationPublicKey(message.attestationKey)
        let device = EnrolledDevice(attestationKey: message.attestationKey, kind: kind, endorsementKeyName: name)
        return try computing { () throws(Failure) in
            try PendingEnrollment(device, attestationKey.name, key)
        }
    }

    /// Reads the name of the endorsement key in a request, for the dictionary of known keys. Nothing is verified.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameter request: the first message of the enrolment.
    /// - Returns: the name, 34 bytes.
    /// - Throws: `malformed` or `unsupportedEndorsementKey` for a request that cannot be read.
    public static func endorsementKeyName(in request: [UInt8]) throws(DeviceProofError) -> [UInt8] {
        let (_, key) = try read(request)
        return try computing { () throws(Failure) in try key.name() }
    }

    private static func read(
        _ request: [UInt8]
    ) throws(DeviceProofError) -> (message: EnrolmentRequest, key: EndorsementKey) {
        let message = try reading(.malformed, "The request does not follow the format.") { () throws(Failure) in
            try EnrolmentRequest(decoding: request)
        }
        let key = try reading(
            .unsupportedEndorsementKey, "The endorsement key is of an unknown form."
        ) { () throws(Failure) in try EndorsementKey(decoding: message.endorsementKey) }
        return (message, key)
    }

    /// Check 1: the maker of the TPM certified the endorsement key.
    private func deviceKind(
        of key: EndorsementKey, _ name: [UInt8], _ certificates: [[UInt8]], at seconds: Int64
    ) throws(DeviceProofError) -> DeviceKind {
        if let known = knownEndorsementKeys[name] { return known }
        guard let first = certificates.first else {
            throw DeviceProofError(.unknownEndorsementKey, "The device has no certificate, and it is not known.")
        }
        var sent: [X509] = []
        for der in [first] + certificates.dropFirst() {
            guard let certificate = X509(der: der) else {
                throw DeviceProofError(.malformed, "A certificate of the device cannot be read.")
            }
            sent.append(certificate)
        }
        let certificate = sent.removeFirst()
        if let complaint = anchors.complaint(about: certificate, sent, at: seconds) {
            throw DeviceProofError(.untrustedChain, "The endorsement certificate is not trusted: \(complaint).")
        }
        guard certificate.isForEndorsement(of: key.publicKey.type), let device = certificate.device else {
            throw DeviceProofError(
                .notAnEndorsementCertificate, "The certificate is not one of an endorsement key of a TPM.")
        }
        guard certificate.publicKeyBits == key.publicKey.externalRepresentation else {
            throw DeviceProofError(.otherEndorsementKey, "The certificate is for another endorsement key.")
        }
        return DeviceKind(manufacturer: device.manufacturer, model: device.model)
    }

    // MARK: - Proofs

    /// Checks the proof for one key.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - proof: the message of the device.
    ///   - publicKey: the key that is registered: a P-256 point in X9.63 format, 65 bytes.
    ///   - nonce: the nonce that was sent to the device, ``nonceBytes`` random bytes. Accept each nonce once only.
    ///   - device: the device, which enrolled before.
    /// - Returns: what is proven and what is claimed.
    /// - Throws: `malformed`, `unsuitableAttestationKey`, `wrongSignature`, `notACreationStatement`, `wrongNonce`,
    ///   `otherKeyName`, `unsuitableKey`, `otherPublicKey` or `otherPolicy` for a proof that is not accepted;
    ///   `invalidParameter` for a nonce of another length; `internalFailure` if libcrypto fails.
    public func verify(
        _ proof: [UInt8], of publicKey: [UInt8], nonce: [UInt8], by device: EnrolledDevice
    ) throws(DeviceProofError) -> ProvenKey {
        guard Self.nonceBytes.contains(nonce.count) else {
            throw DeviceProofError(.invalidParameter, "The nonce has \(nonce.count) bytes.")
        }
        let message = try reading(.malformed, "The proof does not follow the format.") { () throws(Failure) in
            try KeyProof(decoding: proof)
        }
        // Check 3: the signature is over all bytes of the statement.
        guard try AttestationPublicKey(device.attestationKey).verifies(message.signature, over: message.statement)
        else { throw DeviceProofError(.wrongSignature, "The attestation key did not sign the statement.") }
        // Check 4: the statement is one of the TPM about a creation, and is new.
        guard let statement = CreationStatement(message.statement) else {
            throw DeviceProofError(.notACreationStatement, "The statement is not one about the creation of a key.")
        }
        guard statement.nonce == nonce else {
            throw DeviceProofError(.wrongNonce, "The statement was made for another nonce.")
        }
        // Check 5: the statement is about the described key.
        guard try computing({ () throws(Failure) in try TPMName.of(message.key) }) == statement.objectName else {
            throw DeviceProofError(.otherKeyName, "The statement is about another key than the described one.")
        }
        return try checkKey(message, publicKey, device.kind)
    }

    /// Check 6: the key is bound to the TPM, is the registered one, and has the described policy.
    private func checkKey(
        _ message: KeyProof, _ publicKey: [UInt8], _ kind: DeviceKind
    ) throws(DeviceProofError) -> ProvenKey {
        let unsuitable: Phrase = "The key is not one of the Secure Enclave that is bound to its TPM."
        let area = try reading(.unsuitableKey, unsuitable) { () throws(Failure) in
            try TPMPublicArea(decoding: message.key)
        }
        guard let point = area.point, area.attributes == TPMPublicArea.enclaveKey(policy: []).attributes else {
            throw DeviceProofError(.unsuitableKey, unsuitable)
        }
        guard point.external == publicKey else {
            throw DeviceProofError(.otherPublicKey, "The key is not the registered one.")
        }
        guard let authority = TPMPoint(message.authority) else {
            throw DeviceProofError(.malformed, "The key of the authority is not a point.")
        }
        let policy = try computing { () throws(Failure) in
            try PolicyDigest.enclaveKey(
                authority: authority, reference: message.reference, passcode: message.passcode,
                needsPassword: message.needsPassword)
        }
        guard area.policy == policy.bytes else {
            throw DeviceProofError(.otherPolicy, "The policy of the key is not the described one.")
        }
        return ProvenKey(
            publicKey: publicKey, keyCannotLeaveDevice: kind,
            userVerificationClaimed: UserVerificationClaim(
                // The policy of a key with the passcode alone does not contain the authority, so it is not shown.
                authority: message.passcode?.part == .alone ? [] : message.authority, reference: message.reference,
                passcode: UserVerificationClaim.Passcode(message.passcode),
                requiresApplicationPassword: message.needsPassword))
    }
}

/// Runs a body that decodes what a device sent; an error has that code.
func reading<Value>(
    _ code: DeviceProofError.Code, _ message: Phrase, _ body: () throws(Failure) -> Value
) throws(DeviceProofError) -> Value {
    do throws(Failure) { return try body() } catch { throw DeviceProofError(code, message) }
}

/// Runs a body that fails only if libcrypto does.
func computing<Value>(_ body: () throws(Failure) -> Value) throws(DeviceProofError) -> Value {
    do throws(Failure) { return try body() } catch {
        throw DeviceProofError(.internalFailure, error.message)
    }
}

extension X509 {
    /// Whether the certificate has the extensions of an endorsement certificate ("TCG EK Credential Profile for TPM Family
    /// 2.0", section 3.2): the extended key usage `tcg-kp-EKCertificate`, no right to issue certificates or lists, and the
    /// usage of an endorsement key, which decrypts (RSA) or agrees on a secret (elliptic curves).
    ///
    /// - Parameter key: the type of the endorsement key.
    func isForEndorsement(of key: KeyType) -> Bool {
        guard extendedKeyUsages.contains("2.23.133.8.1"), let permissions, permissions.isAuthority == false,
            let usages = permissions.usages, usages.isDisjoint(with: [.certificateSigning, .listSigning])
        else { return false }
        return switch key {
        case .rsa: usages.contains(.keyEncipherment)
        case .ellipticCurve: usages.contains(.keyAgreement)
        }
    }

    /// The manufacturer and the model of the TPM in the subject alternative name (the same document, section 3.1.2); nil
    /// unless the certificate names both.
    var device: (manufacturer: String, model: String)? {
        var found: [String: String] = [:]
        for (type, text) in alternativeNameAttributes { found[type, default: ""] += text }
        guard let manufacturer = found["2.23.133.2.1"], let model = found["2.23.133.2.2"] else { return nil }
        return (manufacturer, model)
    }
}
