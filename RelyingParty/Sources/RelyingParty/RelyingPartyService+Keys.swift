// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyAttestation
package import RelyingPartyCrypto

/// What permits a registration.
public enum RegistrationRight: Sendable {
    /// A code that the operator gave to the user.
    case code(String)
    /// The token of a session of the same user, and the signature of the bound key that opened it, of the message that
    /// names the new key. A token alone is not enough: its thief would stay after the session.
    case session([UInt8], signature: [UInt8])
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
            guard Limits.deviceBytes.contains(device.utf8.count), !device.utf8.contains(0) else {
                throw RelyingPartyError.malformed("device")
            }
            let now = now
            let binding = ChallengeBinding(user: proof.user, key: key.identifier, purpose: .register, context: "")
            let challenge = try challenges.check(proof.challenge, binding, at: now).mapError { reason in
                RelyingPartyError.refused(reason)
            }.get()
            guard proof.key == key.identifier,
                key.isValid(proof.signature, for: message(proof, .register, "", isRaw: isRaw))
            else { throw RelyingPartyError.refused(.wrongSignature) }
            let attestation = try attestation(evidence, of: key, proof, .register, "", at: now)
            guard policy.admits(tier, attestation.device) else { throw RelyingPartyError.refused(.tierTooLow) }
            let isRegistered = try storage.transaction(of: proof.user) { database in
                _ = try database.run("SAVEPOINT attempt", [])
                do {
                    try insert(
                        key, proof, challenge, right, device, isRaw, (tier, attestation), at: now, in: database)
                    return true
                } catch RelyingPartyError.refused(.wrongCode) {
                    // In the same transaction, so that no second try is made before this one counts. It changes one row
                    // that exists, for every user, and adds none: any client can sign with a key of their own, so a
                    // failed registration must not store anything.
                    _ = try database.run("ROLLBACK TO SAVEPOINT attempt", [])
                    _ = try database.run(Statements.countTry, [.text(proof.user), .integer(Limits.codeTries)])
                    return false
                }
            }
            guard isRegistered else { throw RelyingPartyError.refused(.wrongCode) }
            return attestation
        }
    }

    private func insert(
        _ key: P256PublicKey, _ proof: SignedProof, _ challenge: Challenge, _ right: RegistrationRight,
        _ device: String, _ isRaw: Bool, _ protection: (tier: DeclaredTier, attestation: Attestation), at now: Int64,
        in database: any SQLConnection
    ) throws {
        let user = proof.user
        try database.spend(challenge)
        switch right {
        case .code(let code):
            var isSpent = false
            for stored in try stored(code: code, of: user) {
                _ = try database.run(
                    Statements.spendCode,
                    [
                        .text(user), .blob(stored), .integer(now), .integer(now + Limits.codeSeconds),
                        .integer(Limits.codeTries),
                    ])
                isSpent = isSpent || database.changedRowCount == 1
            }
            guard isSpent else { throw RelyingPartyError.refused(.wrongCode) }
        case .session(let token, let signature):
            let session = try database.session(token, policy, at: now)
            guard session.user.utf8.elementsEqual(user.utf8) else {
                throw RelyingPartyError.refused(.unknownSession)
            }
            // A server that relayed a challenge to a raw key has such a session, and would make it last by a key of
            // its own.
            guard !session.isRaw else { throw RelyingPartyError.refused(.rawKey) }
            guard let record = try database.key(session.key),
                P256PublicKey(registered: record.point, identifier: session.key)
                    .isValid(signature, for: message(proof, .register, "", isRaw: false))
            else { throw RelyingPartyError.refused(.wrongSignature) }
        }
        guard case .integer(let count)? = try database.run(Statements.keysOfUser, [.text(user)]).first?.first,
            count < Limits.keysOfUser
        else { throw RelyingPartyError.refused(.tooManyKeys) }
        let (tier, attestation) = protection
        try database.insert(key, of: user, device: device, isRaw: isRaw, tier, attestation, at: now)
        let detail = "\(tier.rawValue), attested \(attestation.device.rawValue)"
        try database.audit("register", user, key.identifier, detail, at: now)
    }

    /// Makes an enrolment code for a user, valid once and for 10 minutes; an earlier one ends.
    ///
    /// - Parameter user: the name of the user.
    /// - Returns: 12 characters of Crockford's Base32, 60 random bits.
    /// - Throws: `malformed` and `unavailable`.
    public func makeCode(for user: String) throws(RelyingPartyError) -> String {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            let made = try newCode(for: user)
            let now = now
            try storage.transaction(of: user) { try $0.replaceCode(of: user, made.stored, at: now) }
            return made.code
        }
    }

    /// An enrolment code, and what is stored of it.
    func newCode(for user: String) throws -> (code: String, stored: [UInt8]) {
        let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        let code = String(try randomBytes(12).map { digits[Int($0 & 31)] })
        guard let stored = try stored(code: code, of: user).first else { throw CryptoFailure() }
        return (code, stored)
    }
}

extension SQLConnection {
    /// Stores an enrolment code of a user in place of an earlier one.
    ///
    /// - Parameter actor: who made it, for the audit log; empty for the operator.
    func replaceCode(of user: String, _ stored: [UInt8], by key: [UInt8] = [], _ actor: String = "", at now: Int64) throws {
        _ = try run(Statements.dropCode, [.text(user)])
        _ = try run(Statements.insertCode, [.text(user), .blob(stored), .integer(now + Limits.codeSeconds)])
        try audit("code", user, key, actor, at: now)
    }
}
