// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// Verifies the registration of a passkey (WebAuthn Level 3, section 7.1).
///
/// The caller permits the registration by other means, such as a session of the user, and stores the passkey unless its
/// credential is known, in the transaction that stores ``IssuedChallenge/nonce`` once.
///
/// Computes only: it neither blocks nor prompts, and reads no clock and no storage.
///
/// - Parameters:
///   - response: what the browser returned.
///   - challenge: the challenge that the server issued for this registration.
///   - userHandle: what the page gave to the browser as `user.id`, 1 to 64 bytes without a name of the user in it (section
///     14.6.1).
///   - policy: what is demanded.
///   - now: the time, in seconds since 1970.
/// - Returns: the passkey, to be stored.
/// - Throws: `expired` or `otherBinding` for another challenge; `clientData`, `authenticatorData`, or
///   `attestationObject` for a part of another form; `type`, `origin`, `relyingParty`, `userPresence`, `userVerification`,
///   `backupState`, `publicKey`, `otherCredential` or `attestation` for a response that is not accepted; `failure` if libcrypto fails.
public func verifyPasskeyRegistration(
    _ response: PasskeyRegistrationResponse, challenge: IssuedChallenge, userHandle: [UInt8], policy: SignInPolicy,
    at now: Int64
) throws(VerificationError) -> Passkey {
    let object = try AttestationObject(response.attestationObject)
    try challenge.check(response.client.challenge, at: now)
    try response.client.check(.registration, origins: policy.origins)
    try object.authenticatorData.check(relyingParty: digest(Array(policy.relyingPartyID.utf8)))
    guard policy.algorithms.contains(object.credential.key.algorithm) else { throw .publicKey }
    guard object.credential.identifier == response.credential else { throw .otherCredential }
    let statement = try object.verify(clientDataHash: digest(response.clientDataJSON))
    return Passkey(
        credential: object.credential.identifier, key: object.credential.key, userHandle: userHandle,
        authenticator: object.credential.authenticator, statement: statement,
        canBeBackedUp: object.authenticatorData.canBeBackedUp, isBackedUp: object.authenticatorData.isBackedUp,
        counter: object.authenticatorData.counter)
}

/// Whom a server expects when a passkey signs.
public enum ExpectedUser: Equatable, Sendable {
    /// Any user: the passkey says who it is, so the response must have its user handle.
    case unknown
    /// The user with this handle, who was named before or has a session. An authenticator may return no handle then.
    case known(handle: [UInt8])
}

/// Verifies an assertion of a passkey (WebAuthn Level 3, section 7.2).
///
/// The caller finds the passkey by ``PasskeyAssertionResponse/credential``, refuses one that is revoked, and afterwards, in one
/// transaction, stores ``IssuedChallenge/nonce`` once, and asks ``CounterPolicy/decision(for:of:)``.
///
/// Computes only: it neither blocks nor prompts, and reads no clock and no storage.
///
/// - Parameters:
///   - response: what the browser returned.
///   - challenge: the challenge that the server issued for this sign-in or act.
///   - passkey: the passkey with the credential of the response, as it is stored.
///   - user: whom the server expects. A passkey of another user is refused (section 7.2, step 6).
///   - policy: what is demanded. The algorithm of the passkey decides, whether or not the policy permits new ones of it.
///   - now: the time, in seconds since 1970.
/// - Returns: the counter, and whether the key has left its authenticator, to be stored.
/// - Throws: `expired` or `otherBinding` for another challenge; `authenticatorData` for a part of another form; `type`, `origin`,
///   `relyingParty`, `userPresence`, `userVerification`, `backupState`, `signature`, `otherCredential` or `userHandle` for a response
///   that is not accepted; `failure` if libcrypto fails.
public func verifyPasskeyAssertion(
    _ response: PasskeyAssertionResponse, challenge: IssuedChallenge, passkey: Passkey, user: ExpectedUser,
    policy: SignInPolicy, at now: Int64
) throws(VerificationError) -> VerifiedAssertion {
    let data = try AuthenticatorData(response.authenticatorData)
    // An assertion has no new key (section 6.1).
    guard data.credential == nil else { throw .authenticatorData }
    try challenge.check(response.client.challenge, at: now)
    try response.client.check(.assertion, origins: policy.origins)
    try data.check(relyingParty: digest(Array(policy.relyingPartyID.utf8)))
    let signed = response.authenticatorData + (try digest(response.clientDataJSON))
    guard passkey.key.isValid(response.signature, for: signed) else { throw .signature }
    // After the signature: a refusal that takes less time would show which credentials exist.
    guard response.credential == passkey.credential else { throw .otherCredential }
    switch user {
    case .unknown: guard response.userHandle == passkey.userHandle else { throw .userHandle }
    case .known(let handle):
        guard handle == passkey.userHandle, response.userHandle ?? handle == handle else { throw .userHandle }
    }
    guard data.canBeBackedUp == passkey.canBeBackedUp else { throw .backupState }
    return VerifiedAssertion(counter: data.counter, isBackedUp: data.isBackedUp)
}

private func digest(_ bytes: [UInt8]) throws(VerificationError) -> [UInt8] {
    do throws(CryptoFailure) { return try LibCrypto.sha256(bytes) } catch { throw .failure }
}
