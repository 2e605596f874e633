// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeyFormats
internal import LatchkeyKit
internal import LatchkeyModel
internal import LocalAuthentication

/// One use of a registered key: challenge, checks, finger, request.
struct Ceremony: Sendable {
    let credential: DeviceCredential
    let prompt: SigningPrompt
    private let exchange: Exchange
    private let now: @Sendable () -> Date

    /// - Parameter now: the time of this machine, which tests replace.
    init(_ credential: DeviceCredential, _ prompt: SigningPrompt, now: @escaping @Sendable () -> Date = { Date() }) {
        self.credential = credential
        self.prompt = prompt
        self.now = now
        exchange = Exchange(credential.server)
    }

    func signIn() async throws(SignInError) -> SignInSession {
        let slots = try KeySlots(user: credential.user, relyingPartyID: credential.server.relyingPartyID)
        let refusal: SignInError
        do throws(SignInError) {
            let session = try await open(credential)
            // The server knows this key, so it does not know the other one of a rotation that was not confirmed.
            if let other = credential.unconfirmed { await slots.discard(other, ifFinalAt: now()) }
            return session
        } catch {
            refusal = error
        }
        guard refusal.kind == .refused(.signIn) else { throw refusal }
        let other = try await KeychainStore.inBackground { () throws(SignInError) in
            try slots.other(than: credential.key)
        }
        guard let other else { throw refusal }
        let session = try await open(DeviceCredential(user: credential.user, server: credential.server, key: other))
        await slots.discard(credential.key, ifFinalAt: now())
        return session
    }

    func stepUp(_ act: String, in session: SignInSession) async throws(SignInError) {
        try check(session)
        var body = try await proof(.stepUp, act, of: credential)
        body.context = act
        let reply: ApprovalReply = try await exchange.commit("step-ups", body, as: .stepUp, expecting: 200, in: session)
        guard reply.context.utf8.elementsEqual(act.utf8), reply.key == body.key else {
            throw SignInError(.outcomeUnknown(.stepUp))
        }
    }

    func administrationAddress(in session: SignInSession) async throws(SignInError) -> URL {
        try check(session)
        let body = try await proof(.stepUp, BoundMessage.administration, of: credential)
        let reply: BrowserCodeReply = try await exchange.commit(
            "browser-codes", body, as: .administration, expecting: 201, in: session)
        guard Base64.url.decode(reply.code.utf8)?.count == 32,
            let address = URL(string: "/admin#code=\(reply.code)", relativeTo: credential.server.url)
        else { throw SignInError(.unexpectedReply) }
        return address.absoluteURL
    }

    /// Refuses a session of another credential.
    private func check(_ session: SignInSession) throws(SignInError) {
        guard session.keyIdentifier == credential.identifier, session.server.url == credential.server.url,
            session.user.utf8.elementsEqual(credential.user.utf8)
        else { throw SignInError(.sessionNotUsable) }
    }

    func revoke(_ target: RevocationTarget) async throws(SignInError) -> Int {
        let context = target.context(of: credential)
        var body = try await proof(.revoke, context, of: credential)
        body.target = context
        let reply: RevocationReply = try await exchange.commit("revocations", body, as: .revocation, expecting: 200)
        return reply.revokedKeys
    }

    private func open(_ credential: DeviceCredential) async throws(SignInError) -> SignInSession {
        let body = try await proof(.login, "", of: credential)
        let reply: SessionReply = try await exchange.commit("sessions", body, as: .signIn, expecting: 201)
        guard let token = Base64.url.decode(reply.token.utf8), token.count == 32, reply.expires > 0 else {
            throw SignInError(.unexpectedReply)
        }
        return SignInSession(
            credential, token: SecretBytes(token),
            expires: Date(timeIntervalSince1970: TimeInterval(reply.expires)))
    }

    /// The members of a proof by the key of a credential.
    private func proof(
        _ purpose: BoundMessage.Purpose, _ context: String, of credential: DeviceCredential
    ) async throws(SignInError) -> RequestBody {
        let message = BoundMessage(
            relyingPartyID: credential.server.relyingPartyID, user: credential.user, key: credential.key.identifier,
            purpose: purpose, context: context)
        let challenge = try await exchange.challenge(for: message)
        let signature = try await prompt.sign(message.bytes(challenge.bytes), with: credential.key)
        return RequestBody(message, challenge, signature)
    }
}

extension RequestBody {
    /// The members of every proof.
    init(_ message: BoundMessage, _ challenge: ServerChallenge, _ signature: Data) {
        self.init(
            user: message.user, key: Base64.url.encode(message.key), challenge: Base64.url.encode(challenge.bytes),
            signature: Base64.url.encode(signature))
    }
}

extension RevocationTarget {
    /// What the key signs: `user`, `device:NAME` or `key:IDENTIFIER`.
    func context(of credential: DeviceCredential) -> String {
        switch self {
        case .thisKey: "key:" + Base64.url.encode(credential.identifier)
        case .key(let identifier): "key:" + Base64.url.encode(identifier)
        case .device(let name): "device:" + name
        case .everyKey: "user"
        }
    }

    /// The end of the sentence in the prompt.
    var words: String {
        switch self {
        case .thisKey: "the key of this device"
        case .key(let identifier): "the key " + Base64.url.encode(identifier)
        case .device(let name): "the keys of the device \(name)"
        case .everyKey: "all your keys"
        }
    }
}
