// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyAttestation
package import RelyingPartyCrypto
public import SignInVerification

/// What permits a registration.
public enum RegistrationRight: Sendable {
    /// A code that the operator gave to the user.
    case code(String)
    /// The token of a session of the same user, and a proof that the key that opened it wants the new key. A token alone is
    /// not enough: its thief would stay after the session.
    case session([UInt8], of: SessionKind = .program, SessionProof)
}

/// How the key of a session names a new key.
public enum SessionProof: Sendable {
    /// A bound key signs the message that names the new key, with the challenge of the registration.
    case signature([UInt8])
    /// A passkey signs a challenge for `register`, whose key is the passkey and whose context is `key:` and the identifier
    /// of the new key in base64url.
    case assertion(PasskeyAssertionResponse)
}

extension RelyingPartyService {
    /// Registers a key, whose owner proves to have it.
    ///
    /// - Parameters:
    ///   - key: the public key; the proof names its identifier.
    ///   - proof: the signature of a challenge for `register`.
    ///   - right: an enrolment code, or a session of the user.
    ///   - device: a name of the device, at most 64 bytes, by which its keys can be revoked together.
    ///   - isRaw: whether the key signs challenges as they are; it can then only log in.
    ///   - tier: the declared tier.
    ///   - evidence: a proof that the key is in a TPM, made for the challenge.
    /// - Returns: what is proven and claimed about the key.
    @discardableResult package func register(
        _ key: P256PublicKey, _ proof: SignedProof, _ right: RegistrationRight, device: String, isRaw: Bool,
        tier: DeclaredTier, evidence: AttestationEvidence? = nil
    ) throws(RelyingPartyError) -> Attestation {
        try working {
            try check(user: proof.user, key: proof.key)
            try check(device: device)
            let now = now
            let binding = ChallengeBinding(user: proof.user, key: key.identifier, purpose: .register, context: "")
            let challenge = try challenges.check(proof.challenge, binding, at: now)
            guard proof.key == key.identifier,
                key.isValid(proof.signature, for: message(proof, .register, "", isRaw: isRaw))
            else { throw RelyingPartyError.refused(.wrongSignature) }
            let attestation = try attestation(evidence, of: key, proof, .register, "", at: now)
            let form: KeyForm = isRaw ? .raw : .bound
            guard policy.admits(form, tier, attestation.device) else { throw RelyingPartyError.refused(.tierTooLow) }
            try registering(proof.user, by: right, at: now) { database in
                try database.spend(challenge)
                if let frozen = try use(right, for: proof, .register, at: now, in: database) { return frozen }
                try database.requireRoom(for: proof.user)
                try database.insert(
                    VerificationKey(key), of: proof.user, device: device, form, tier, attestation, at: now)
                let detail = "\(tier.rawValue), attested \(attestation.device.rawValue)"
                try database.audit("register", proof.user, key.identifier, detail, at: now)
                return nil
            }
            return attestation
        }
    }

    /// Makes an enrolment code for a user, valid once and for 10 minutes; an earlier one ends.
    ///
    /// - Parameter user: the name of the user.
    /// - Returns: 16 digits of Crockford's Base32 in four groups, 80 random bits.
    /// - Throws: `malformed` and `unavailable`.
    public func makeCode(for user: String) throws(RelyingPartyError) -> String {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            let made = try newCode()
            let now = now
            try storage.transaction(of: user) { try $0.replaceCode(of: user, made.stored, at: now) }
            return made.code
        }
    }

    /// An enrolment code, and what is stored of it.
    func newCode() throws -> (code: String, stored: [UInt8]) {
        let code = EnrolmentCode(random: try randomBytes(EnrolmentCode.digitCount))
        guard let stored = try stored(code).first else { throw CryptoFailure() }
        return (code.text, stored)
    }
}

extension SQLConnection {
    /// Stores an enrolment code of a user in place of an earlier one.
    ///
    /// - Parameters:
    ///   - actor: who made it, for the audit log; empty for the operator.
    ///   - service: the service that made it, with which it ends; nil for none.
    func replaceCode(
        of user: String, _ stored: [UInt8], by key: [UInt8] = [], _ actor: String = "", of service: String? = nil,
        at now: Int64
    ) throws {
        _ = try run(Statements.dropCode, [.text(user)])
        _ = try run(
            Statements.insertCode,
            [
                .blob(stored), .text(user), .integer(now + Limits.codeSeconds),
                service.map { SQLValue.text($0) } ?? .null,
            ])
        try audit("code", user, key, actor, at: now)
    }
}
