// SPDX-License-Identifier: Apache-2.0

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
    package func register(
        _ key: P256PublicKey, _ proof: SignedProof, _ right: RegistrationRight, device: String, isRaw: Bool,
        tier: DeclaredTier
    ) throws(RelyingPartyError) {
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
            guard tier.isAtLeast(policy.minimumTier) else { throw RelyingPartyError.refused(.tierTooLow) }
            do {
                try insert(key, proof, challenge, right, device, isRaw, tier, at: now)
            } catch RelyingPartyError.refused(.wrongCode) {
                // The transaction was rolled back. This changes a row that exists and adds none: any client can sign with a
                // key of their own, so a failed registration must not store anything.
                _ = try storage.transaction { database in
                    try database.run(Statements.countTry, [.text(proof.user), .integer(Limits.codeTries)])
                }
                throw RelyingPartyError.refused(.wrongCode)
            }
        }
    }

    private func insert(
        _ key: P256PublicKey, _ proof: SignedProof, _ challenge: Challenge, _ right: RegistrationRight,
        _ device: String, _ isRaw: Bool, _ tier: DeclaredTier, at now: Int64
    ) throws {
        let user = proof.user
        try storage.transaction { database in
            try database.spend(challenge)
            switch right {
            case .code(let code):
                let stored = try stored(code: code, of: user)
                _ = try database.run(
                    Statements.spendCode, [.text(user), .blob(stored), .integer(now), .integer(Limits.codeTries)])
                guard database.changedRowCount == 1 else { throw RelyingPartyError.refused(.wrongCode) }
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
            try database.insert(key, of: user, device: device, isRaw: isRaw, tier, at: now)
            try database.audit("register", user, key.identifier, tier.rawValue, at: now)
        }
    }

    /// Makes an enrolment code for a user, valid once and for 10 minutes; an earlier one ends.
    ///
    /// - Parameter user: the name of the user.
    /// - Returns: 12 characters of Crockford's Base32, 60 random bits.
    /// - Throws: `malformed` and `unavailable`.
    public func makeCode(for user: String) throws(RelyingPartyError) -> String {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
            let code = String(try randomBytes(12).map { digits[Int($0 & 31)] })
            let stored = try stored(code: code, of: user)
            let now = now
            try storage.transaction { database in
                _ = try database.run(Statements.dropCode, [.text(user)])
                _ = try database.run(
                    Statements.insertCode, [.text(user), .blob(stored), .integer(now + Limits.codeSeconds)])
                try database.audit("code", user, [], at: now)
            }
            return code
        }
    }
}
