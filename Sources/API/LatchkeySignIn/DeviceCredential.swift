// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LatchkeyKit
public import LocalAuthentication

/// A key of the Secure Enclave with which a user of this machine signs in to a relying party.
///
///     let server = try RelyingPartyServer(url: url, relyingPartyID: "example.com")
///     let credential = try await DeviceCredential.register(user: "ada", with: server, enrollmentCode: code)
///     let session = try await credential.signIn()
///     try await credential.stepUp("pay 20 EUR to Bob", in: session)
///
/// The key signs nothing but the messages of `docs/reference/relying-party.md`, computed from what this value contains.
/// Before the user is asked, the server's challenge is checked: version, relying party, user, key, purpose, act and
/// times. The prompt names the relying party and what is done there, and cannot be given another text by the server.
///
/// The value contains no secret. Functions that are asynchronous suspend while they wait for the server and the user, and can
/// be called from any actor; cancelling the task dismisses the prompt of a context that the caller did not provide, and ends
/// the request.
public struct DeviceCredential: Hashable, Sendable {
    /// The name of the user at the relying party.
    public let user: String
    /// The server and the name of the relying party.
    public let server: RelyingPartyServer
    /// The public key in X9.63 form: 04 ‖ X ‖ Y, 65 bytes.
    public var publicKey: Data { key.pair.publicKey }
    /// The identifier of the key at the relying party: the SHA-256 digest of ``publicKey``, 32 bytes.
    public var identifier: Data { Data(key.identifier) }

    let key: SlottedKey
    /// The second key of a rotation that was not confirmed, as `existing` found it. Looked up there and not at each sign-in,
    /// because a look-up takes several round trips to the daemon.
    private(set) var unconfirmed: SlottedKey?

    init(user: String, server: RelyingPartyServer, key: SlottedKey, unconfirmed: SlottedKey? = nil) {
        (self.user, self.server, self.key, self.unconfirmed) = (user, server, key, unconfirmed)
    }

    /// Returns whether two credentials have equal users, servers and keys.
    ///
    /// - Parameters:
    ///   - left: a credential.
    ///   - right: another credential.
    /// - Returns: true when both use the same key in the same way.
    public static func == (left: Self, right: Self) -> Bool {
        left.user == right.user && left.server == right.server && left.key == right.key
    }

    /// Hashes the user, the server and the key.
    ///
    /// - Parameter hasher: receives them.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(server)
        hasher.combine(key)
    }

    // MARK: - Making and finding

    /// Makes a key in the Secure Enclave and registers it with a relying party.
    ///
    /// Prompts once, for the proof that each use of the new key demands; before that for the passcode, if it was not
    /// entered since the daemon started. The key is deleted when the server refuses it, and when the registration was not
    /// sent: the server could not be reached, its challenge was refused, or the user did not sign. After all other failures
    /// it is kept.
    ///
    /// - Parameters:
    ///   - user: the name of the user, 1 to 128 bytes in UTF-8 of visible characters.
    ///   - server: the server of the relying party.
    ///   - enrollmentCode: the code that the operator of the server made for the user, which is valid once.
    ///   - deviceName: the name of this device in the server's lists, 0 to 64 bytes in UTF-8.
    ///   - protection: the proof that each use of the key demands. The default is the enrolled fingers or faces: the
    ///     key cannot be used any more after they change.
    ///   - context: the context that prompts, whose `localizedReason` is replaced; a context with a proof does not
    ///     prompt. With nil each call has a context of its own.
    /// - Returns: the credential, for ``signIn(context:)``.
    /// - Throws: `SignInError`: `alreadyRegistered` when there is a key for this user and relying party, `refused` for a
    ///   wrong code, `outcomeUnknown` when the server may have registered the key, which is kept then: sign in, or
    ///   call ``remove()``. Otherwise the kinds of the connection, the challenge and the user.
    public nonisolated(nonsending) static func register(
        user: String, with server: RelyingPartyServer, enrollmentCode: String, deviceName: String = "",
        protection: KeychainProtection = .currentBiometry, context: LAContext? = nil
    ) async throws(SignInError) -> DeviceCredential {
        try Arguments.checkUser(user)
        let prompt = SigningPrompt(context, reason: "register this device with \(server.relyingPartyID) for \(user)")
        defer { prompt.end() }
        return try await Registration(user: user, server: server, protection: protection, prompt: prompt)
            .run(enrollmentCode: enrollmentCode, deviceName: deviceName)
    }

    /// Finds the key that this app registered for a user with a relying party.
    ///
    /// Blocks for a few round trips to the system; never prompts and does not ask the server.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - server: the server of the relying party. A key belongs to ``RelyingPartyServer/relyingPartyID``, not to the
    ///     address.
    /// - Returns: the credential; nil when there is no key.
    /// - Throws: `SignInError`: `invalidArgument` for a name that no user has, `keychain` when the keychain cannot be used.
    public static func existing(user: String, for server: RelyingPartyServer) throws(SignInError) -> DeviceCredential? {
        let keys = try KeySlots(user: user, relyingPartyID: server.relyingPartyID).all()
        guard let key = keys.first else { return nil }
        return DeviceCredential(user: user, server: server, key: key, unconfirmed: keys.dropFirst().first)
    }

    // MARK: - Using

    /// Signs in.
    ///
    /// Prompts once.
    ///
    /// - Parameter context: the context that prompts, whose `localizedReason` is replaced; a context with a proof does not
    ///   prompt. With nil the call has a context of its own.
    /// - Returns: the session.
    /// - Throws: `SignInError`: `refused` for a key that was revoked or that the server does not know; `enrollmentChanged`,
    ///   after which the user needs a new enrolment code. Otherwise the kinds of the connection, the challenge and the
    ///   user.
    public nonisolated(nonsending) func signIn(context: LAContext? = nil) async throws(SignInError) -> SignInSession {
        let prompt = SigningPrompt(context, reason: "sign in to \(server.relyingPartyID) as \(user)")
        defer { prompt.end() }
        return try await Ceremony(self, prompt).signIn()
    }

    /// Approves one act within a session. The server writes the act into its audit log.
    ///
    /// Prompts once, and shows the act and the relying party.
    ///
    /// - Parameters:
    ///   - act: what the user approves, in words that a prompt can show: 1 to 120 visible characters in one line. The
    ///     server has to expect exactly this text.
    ///   - session: a session of this credential.
    ///   - context: the context that prompts, whose `localizedReason` is replaced; a context with a proof does not
    ///     prompt. With nil the call has a context of its own.
    /// - Throws: `SignInError`: `invalidArgument` for an act that a prompt cannot show, `sessionNotUsable` for a session of
    ///   another credential, `refused` when the session has ended or the key was revoked. Otherwise the kinds of the
    ///   connection, the challenge and the user.
    public nonisolated(nonsending) func stepUp(
        _ act: String, in session: SignInSession, context: LAContext? = nil
    ) async throws(SignInError) {
        try Arguments.checkAct(act)
        let prompt = SigningPrompt(context, reason: "approve at \(server.relyingPartyID): \(act)")
        defer { prompt.end() }
        try await Ceremony(self, prompt).stepUp(act, in: session)
    }

    /// Asks for the address that opens the page for administrators in a browser, signed in as the user.
    ///
    /// Prompts once. The address contains a code that is valid once and for a minute, after the `#`, which browsers do not
    /// send: give it to a browser, and to nothing else. The server has to allow its page at ``RelyingPartyServer/url``.
    ///
    /// - Parameters:
    ///   - session: a session of this credential.
    ///   - context: the context that prompts, whose `localizedReason` is replaced; a context with a proof does not
    ///     prompt. With nil the call has a context of its own.
    /// - Returns: the address.
    /// - Throws: `SignInError`: `sessionNotUsable` for a session of another credential, `refused` for a user who is no
    ///   administrator, or when the session has ended or the key was revoked. Otherwise the kinds of the connection, the
    ///   challenge and the user.
    public nonisolated(nonsending) func administrationAddress(
        in session: SignInSession, context: LAContext? = nil
    ) async throws(SignInError) -> URL {
        let prompt = SigningPrompt(context, reason: "\(BoundMessage.administration) of \(server.relyingPartyID)")
        defer { prompt.end() }
        return try await Ceremony(self, prompt).administrationAddress(in: session)
    }

    /// Replaces the key by a new one of the same user and device. The old key is revoked and its sessions end.
    ///
    /// Prompts once, with one proof for both keys.
    ///
    /// - Parameters:
    ///   - protection: the proof that each use of the new key demands.
    ///   - context: the context that prompts, whose `localizedReason` is replaced; a context with a proof does not
    ///     prompt. With nil the call has a context of its own.
    /// - Returns: the credential with the new key. This value cannot be used any more.
    /// - Throws: `SignInError`: `refused` when this key was revoked. After `outcomeUnknown` both keys are kept: call
    ///   ``existing(user:for:)`` and ``signIn(context:)``, which finds out which of them the server knows. A sign-in deletes the
    ///   other one when it is older than an hour, since the request may arrive late; until then this function throws
    ///   `outcomeUnknown` again. Otherwise the kinds of the connection, the challenge and the user.
    public nonisolated(nonsending) func rotate(
        protection: KeychainProtection = .currentBiometry, context: LAContext? = nil
    ) async throws(SignInError) -> DeviceCredential {
        let prompt = SigningPrompt(context, reason: "replace the key for \(server.relyingPartyID) of \(user)")
        defer { prompt.end() }
        return try await Rotation(credential: self, protection: protection, prompt: prompt).run()
    }

    /// Revokes keys of the user at the relying party, and ends their sessions. Deletes no key of this machine.
    ///
    /// Prompts once.
    ///
    /// - Parameters:
    ///   - target: the keys that are revoked; any key of the same user can be.
    ///   - context: the context that prompts, whose `localizedReason` is replaced; a context with a proof does not
    ///     prompt. With nil the call has a context of its own.
    /// - Returns: how many keys were revoked.
    /// - Throws: `SignInError`: `invalidArgument` for an identifier or a name that no key has, `refused` when this key was
    ///   revoked already. Otherwise the kinds of the connection, the challenge and the user.
    @discardableResult
    public nonisolated(nonsending) func revoke(
        _ target: RevocationTarget = .thisKey, context: LAContext? = nil
    ) async throws(SignInError) -> Int {
        try Arguments.checkTarget(target)
        let prompt = SigningPrompt(context, reason: "at \(server.relyingPartyID), revoke \(target.words)")
        defer { prompt.end() }
        return try await Ceremony(self, prompt).revoke(target)
    }

    /// Deletes the private key from this machine. The relying party still lists the public key, which is useless without it.
    ///
    /// Blocks for a few round trips to the system; never prompts and does not contact the server.
    ///
    /// - Throws: `SignInError` with the kind `keychain` when the keychain cannot be used. A key that is gone already is not
    ///   an error.
    public func remove() throws(SignInError) {
        try KeySlots(user: user, relyingPartyID: server.relyingPartyID).removeAll()
    }
}

/// The keys that ``DeviceCredential/revoke(_:context:)`` revokes.
public enum RevocationTarget: Hashable, Sendable {
    /// The key of the credential itself.
    case thisKey
    /// Another key of the same user, by its identifier of 32 bytes.
    case key(Data)
    /// All keys of the user on a device, by the name with which they were registered.
    case device(String)
    /// All keys of the user.
    case everyKey
}
