// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
public import SignInVerification

extension RelyingPartyService {
    /// The tier of every passkey: that of a key which programs of the user can use.
    package static let passkeyTier = DeclaredTier.user

    /// Issues a challenge for a sign-in with a passkey. It names no user, because a browser does not know which one will be
    /// chosen. Reads and writes no storage.
    ///
    /// - Returns: the challenge, 145 bytes.
    /// - Throws: `refused` if passkeys are not permitted, and `unavailable`.
    public func passkeyChallenge() throws(RelyingPartyError) -> [UInt8] {
        try working {
            guard policy.permitsPasskeys else { throw RelyingPartyError.refused(.passkeysOff) }
            return try challenges.issue(Self.signInBinding, at: now, nonce: randomBytes(32))
        }
    }

    /// Issues a challenge for the registration of a passkey. Reads and writes no storage, so the reply is the same for users
    /// that do not exist.
    ///
    /// - Parameter user: the name of the user, 1 to 128 bytes.
    /// - Returns: the challenge, 145 bytes, and the user handle, 32 bytes, which the authenticator stores and the challenge is
    ///   bound to. It is the same for each registration of the user, until the secret is replaced.
    /// - Throws: `refused` if passkeys are not permitted; `malformed` and `unavailable`.
    public func passkeyChallenge(
        registering user: String
    ) throws(RelyingPartyError) -> (challenge: [UInt8], userHandle: [UInt8]) {
        try working {
            try check(user: user, key: ChallengePurpose.noKey)
            guard policy.permitsPasskeys else { throw RelyingPartyError.refused(.passkeysOff) }
            guard let handle = try userHandles(of: user).first else { throw CryptoFailure() }
            let binding = Self.registrationBinding(user, handle)
            return (try challenges.issue(binding, at: now, nonce: randomBytes(32)), handle)
        }
    }

    /// How long challenges for the registration of a passkey and for a sign-in with one are valid, in seconds.
    public var passkeySeconds: Int64 { challenges.passkeySeconds }

    /// Registers a passkey that was just made.
    ///
    /// - Parameters:
    ///   - response: what the browser returned, for a challenge for `passkeyRegister`.
    ///   - user: the name of the user.
    ///   - device: a name of the device, at most 64 bytes, by which its keys can be revoked together.
    ///   - right: an enrolment code, or a session of the user.
    /// - Returns: the identifier of the key, 32 bytes.
    /// - Throws: `refused`, `malformed` and `unavailable`.
    @discardableResult package func registerPasskey(
        _ response: PasskeyRegistrationResponse, of user: String, device: String, _ right: RegistrationRight
    ) throws(RelyingPartyError) -> [UInt8] {
        try working {
            try check(user: user, key: ChallengePurpose.noKey)
            try check(device: device)
            guard policy.permitsPasskeys else { throw RelyingPartyError.refused(.passkeysOff) }
            let now = now
            let (challenge, handle) = try registrationChallenge(response.challenge, user, at: now)
            let passkey = try verifyPasskeyRegistration(
                response, challenge: IssuedChallenge(response.challenge, challenge), userHandle: handle,
                policy: policy.signIn, at: now)
            guard policy.admits(.passkey, Self.passkeyTier, .none) else { throw RelyingPartyError.refused(.tierTooLow) }
            let (key, record) = (passkey.key, PasskeyRecord(passkey))
            // A bound key of a session names the new key in the message that it signs.
            let named = SignedProof(user: user, key: key.identifier, challenge: response.challenge, signature: [])
            try registering(user, by: right, at: now) { database in
                try database.spend(challenge)
                if let frozen = try use(right, for: named, .passkeyRegister, at: now, in: database) { return frozen }
                try database.requireRoom(for: user)
                try database.insert(
                    key, of: user, device: device, .passkey, Self.passkeyTier, .none, at: now)
                try database.insert(record, of: key.identifier)
                if passkey.counter > 0 {
                    // A new row has no counter, so this is never refused.
                    _ = try database.run(
                        Statements.advanceCounter, [.integer(passkey.counter), .blob(key.identifier)])
                }
                try database.audit(
                    "register", user, key.identifier,
                    "passkey, attested \(record.statement.rawValue), synced \(record.backup.name)", at: now)
                return nil
            }
            return key.identifier
        }
    }

    /// Opens a session of a program with a passkey, whose user becomes known by it.
    ///
    /// - Parameter response: what the browser returned, for a challenge for `passkeyLogin`.
    /// - Returns: the token, 32 random bytes, and when the session ends at the latest, in seconds since 1970.
    /// - Throws: `refused`, `malformed` and `unavailable`.
    public func signIn(
        _ response: PasskeyAssertionResponse
    ) throws(RelyingPartyError) -> (token: [UInt8], expiry: Int64) {
        try working {
            let now = now
            return try open(.program, verify(response, .program, at: now), at: now)
        }
    }

    /// Opens a session of a browser with a passkey of an administrator. For another user nothing is opened, and no session
    /// of the key ends.
    ///
    /// - Parameter response: what the browser returned, for a challenge for `passkeyLogin`. It has the user handle, because the
    ///   page named no user before (WebAuthn Level 3, section 7.2, step 6).
    /// - Returns: the token and when the session ends at the latest, as for a program.
    /// - Throws: `refused`, with `notAdministrator` for another user; `malformed` and `unavailable`.
    public func signInAdministrator(
        _ response: PasskeyAssertionResponse
    ) throws(RelyingPartyError) -> (token: [UInt8], expiry: Int64) {
        try working {
            let now = now
            return try open(.browser, verify(response, .browser, at: now), at: now) { database, user in
                try database.requireAdministrator(user)
            }
        }
    }

    private func verify(
        _ response: PasskeyAssertionResponse, _ kind: SessionKind, at now: Int64
    ) throws -> VerifiedProof {
        guard policy.permitsPasskeys else { throw RelyingPartyError.refused(.passkeysOff) }
        let challenge = try challenges.check(response.challenge, Self.signInBinding, at: now)
        // An unknown passkey costs as much as a known one, as in the verification of other proofs.
        let record = try storage.passkeyOrDecoy(response.credential)
        // A page for programs may have asked for the name of the user, and have named the passkeys.
        let isUserNamed = kind == .program
        let result = Result {
            try verify(response, challenge, record, isUserNamed: isUserNamed, at: now)
        }
        guard record.passkey?.credential == response.credential else { throw RelyingPartyError.refused(.unknownKey) }
        let counter = try result.get()
        try record.requireActive()
        try requireAdmitted(record)
        return VerifiedProof(challenge: challenge, counter: counter, key: record)
    }

    private static let signInBinding = ChallengeBinding(
        user: "", key: ChallengePurpose.noKey, purpose: .passkeyLogin, context: "")

    private static func registrationBinding(_ user: String, _ handle: [UInt8]) -> ChallengeBinding {
        ChallengeBinding(
            user: user, key: ChallengePurpose.noKey, purpose: .passkeyRegister,
            context: StrictBase64.url.encode(handle))
    }

    /// Checks the challenge of a registration, and finds the user handle that came with it. It may be the one of the secret
    /// that was replaced since.
    private func registrationChallenge(
        _ challenge: [UInt8], _ user: String, at now: Int64
    ) throws -> (Challenge, [UInt8]) {
        let handles = try userHandles(of: user)
        var refusal = VerificationError.failure
        for handle in handles {
            do throws(VerificationError) {
                return (try challenges.check(challenge, Self.registrationBinding(user, handle), at: now), handle)
            } catch {
                refusal = error
            }
        }
        throw refusal
    }
}
