// SPDX-License-Identifier: Apache-2.0

internal import DeviceProof
package import RelyingPartyCrypto

/// Verifies proofs that a key is in a TPM. Nothing is stored between the requests: an enrolment that has begun is sealed,
/// and the device sends it back, so that a flood writes nothing and any process of the relying party finishes it.
package struct TPMAttestation: Sendable {
    /// How long a device has for its answer and its proof, in seconds.
    package static let seconds: Int64 = 600
    /// Limits of the parts of evidence, in bytes.
    package static let enrolmentBytes = 4096
    package static let messageBytes = 12288

    private static let version: UInt8 = 1
    private static let prefixBytes = 9

    private let verifier: Verifier
    private let relyingPartyID: String

    /// - Parameters:
    ///   - roots: the certificates under which TPMs are accepted, in DER.
    ///   - relyingPartyID: the name of the relying party.
    /// - Throws: `malformed` if a root is not a certificate.
    package init(roots: [[UInt8]], relyingPartyID: String) throws(AttestationRefusal) {
        do throws(DeviceProofError) {
            verifier = try Verifier(roots: roots)
        } catch {
            throw .malformed
        }
        self.relyingPartyID = relyingPartyID
    }

    // MARK: - Enrolment

    /// Check 1 of `docs/reference/device-proof.md`: begins the enrolment of an attestation key.
    ///
    /// - Parameters:
    ///   - request: the first message of the device.
    ///   - user: the user for whom the device will register a key.
    ///   - master: the secret of the relying party.
    ///   - now: the time, in seconds since 1970.
    ///   - nonce: 12 random bytes.
    /// - Returns: the challenge for the device, and the enrolment that it sends back.
    package func begin(
        _ request: [UInt8], user: String, under master: SecretBytes, at now: Int64, nonce: [UInt8]
    ) throws(AttestationRefusal) -> (challenge: [UInt8], enrolment: [UInt8]) {
        let pending: PendingEnrollment
        do throws(DeviceProofError) {
            pending = try verifier.begin(request, at: now)
        } catch {
            throw Self.refusal(error)
        }
        let prefix = [Self.version] + Self.number(now + Self.seconds)
        do {
            let sealed = try pending.withStoredForm { form in
                try LibCrypto.seal(
                    form, under: key(master, prefix), nonce: nonce, authenticating: context(prefix, user))
            }
            return (pending.challenge, prefix + sealed)
        } catch {
            throw .failure
        }
    }

    // MARK: - Evidence

    /// Checks 2 to 6 of `docs/reference/device-proof.md`.
    ///
    /// - Parameters:
    ///   - evidence: what the device sent.
    ///   - point: the key that is registered, 65 bytes.
    ///   - user: its user.
    ///   - nonce: the nonce of the statement, which is computed from what the key signs.
    ///   - masters: the secrets of the relying party that are valid.
    ///   - now: the time, in seconds since 1970.
    package func verify(
        _ evidence: AttestationEvidence, of point: [UInt8], user: String, nonce: [UInt8], under masters: [SecretBytes],
        at now: Int64
    ) throws(AttestationRefusal) -> Attestation {
        guard evidence.enrolment.count <= Self.enrolmentBytes, evidence.answer.count <= Self.messageBytes,
            evidence.proof.count <= Self.messageBytes
        else { throw .malformed }
        let device = try finish(evidence, user: user, under: masters, at: now)
        let proven: ProvenKey
        do throws(DeviceProofError) {
            proven = try verifier.verify(evidence.proof, of: point, nonce: nonce, by: device)
        } catch {
            throw Self.refusal(error)
        }
        let chip: [UInt8]
        do throws(CryptoFailure) {
            let party = Array(relyingPartyID.utf8)
            chip = try LibCrypto.sha256(
                Array("latchkey attested device 1\0".utf8) + Self.counted(party) + device.endorsementKeyName)
        } catch {
            throw .failure
        }
        let claim = Self.text(proven.userVerificationClaimed)
        switch proven.keyCannotLeaveDevice {
        case .virtual:
            return Attestation(device: .virtualTPM, model: "", chip: chip, claimedUserVerification: claim)
        case .hardware(let manufacturer, let model):
            return Attestation(
                device: .tpm, model: "\(manufacturer) \(model)", chip: chip, claimedUserVerification: claim)
        }
    }

    /// Opens a sealed enrolment and checks the answer of the device.
    private func finish(
        _ evidence: AttestationEvidence, user: String, under masters: [SecretBytes], at now: Int64
    ) throws(AttestationRefusal) -> EnrolledDevice {
        let prefix = Array(evidence.enrolment.prefix(Self.prefixBytes))
        guard prefix.count == Self.prefixBytes, prefix[0] == Self.version else { throw .malformed }
        let expiry = prefix[1...].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        for master in masters {
            let form: SecretBytes?
            do throws(CryptoFailure) {
                form = try LibCrypto.open(
                    Array(evidence.enrolment.dropFirst(Self.prefixBytes)), under: key(master, prefix),
                    authenticating: context(prefix, user))
            } catch {
                throw .failure
            }
            guard let form else { continue }
            // The time is authentic now. An expiry far away is one of a clock that was set back since.
            guard now < expiry, expiry <= now + Self.seconds else { throw .enrolmentExpired }
            let finished = form.withBytes { form in
                Result { () throws(DeviceProofError) in try PendingEnrollment.finish(evidence.answer, storedForm: form)
                }
            }
            do throws(DeviceProofError) {
                return try finished.get()
            } catch {
                throw Self.refusal(error)
            }
        }
        throw .enrolment
    }

    /// A key for each hour, so that the number of random nonces under one key stays small.
    private func key(_ master: SecretBytes, _ prefix: [UInt8]) throws(CryptoFailure) -> SecretBytes {
        let hour = prefix.dropFirst().reduce(Int64(0)) { $0 << 8 | Int64($1) } / 3600
        return try LibCrypto.derive(master, Array("latchkey attestation 1\0".utf8) + Self.number(hour))
    }

    /// What a sealed enrolment belongs to.
    private func context(_ prefix: [UInt8], _ user: String) -> [UInt8] {
        prefix + Self.counted(Array(relyingPartyID.utf8)) + Self.counted(Array(user.utf8))
    }

    private static func refusal(_ error: DeviceProofError) -> AttestationRefusal {
        switch error.code {
        case .malformed: .malformed
        case .unsupportedEndorsementKey, .unknownEndorsementKey, .untrustedChain, .notAnEndorsementCertificate,
            .otherEndorsementKey:
            .untrustedDevice
        case .unsuitableAttestationKey, .wrongSecret: .enrolment
        case .wrongSignature, .notACreationStatement, .wrongNonce: .statement
        case .otherKeyName, .unsuitableKey, .otherPublicKey, .otherPolicy: .otherKey
        case .invalidParameter, .internalFailure: .failure
        }
    }

    private static func text(_ claim: UserVerificationClaim) -> String {
        let text =
            switch claim.passcode {
            case .decidedByAuthority: "approval"
            case .required: "passcode"
            case .insteadOfApproval: "approval-or-passcode"
            case .besidesApproval: "approval-and-passcode"
            }
        return claim.requiresApplicationPassword ? text + "+application-password" : text
    }

    private static func number(_ number: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// Names have at most 253 bytes (`Configuration`, `Limits`).
    private static func counted(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}
