// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeyFormats
internal import LatchkeyClient
internal import LatchkeyKit
internal import LatchkeyModel
internal import Security

/// Registers a new key: key pair, challenge, checks, finger, request.
struct Registration: Sendable {
    let user: String
    let server: RelyingPartyServer
    let protection: KeychainProtection
    let prompt: SigningPrompt

    func run(enrollmentCode: String, deviceName: String) async throws(SignInError) -> DeviceCredential {
        try Arguments.checkEnrolmentCode(enrollmentCode)
        try Arguments.checkDeviceName(deviceName)
        let slots = try KeySlots(user: user, relyingPartyID: server.relyingPartyID)
        let tier = try await DeclaredTier.ofThisMachine()
        let key = try await slots.create(protection)
        do throws(SignInError) {
            try await register(key, tier, enrollmentCode, deviceName)
        } catch {
            // The server may know the key, which the next sign-in shows.
            if error.kind != .outcomeUnknown(.registration) { await slots.discard(key) }
            throw error
        }
        return DeviceCredential(user: user, server: server, key: key)
    }

    private func register(
        _ key: SlottedKey, _ tier: String, _ code: String, _ deviceName: String
    ) async throws(SignInError) {
        let message = BoundMessage(
            relyingPartyID: server.relyingPartyID, user: user, key: key.identifier, purpose: .register)
        let exchange = Exchange(server)
        let challenge = try await exchange.challenge(for: message)
        let signature = try await prompt.sign(message.bytes(challenge.bytes), with: key)
        var body = RequestBody(message, challenge, signature)
        body.publicKey = RequestBody.PublicKey(key)
        body.form = "bound"
        body.tier = tier
        body.device = deviceName
        body.enrollmentCode = code
        let reply: KeyReply = try await exchange.commit("keys", body, as: .registration, expecting: 201)
        guard reply.key == body.key else { throw SignInError(.outcomeUnknown(.registration)) }
    }
}

/// Replaces the key of a credential: both keys sign one message, which names the new key.
struct Rotation: Sendable {
    let credential: DeviceCredential
    let protection: KeychainProtection
    let prompt: SigningPrompt

    func run() async throws(SignInError) -> DeviceCredential {
        let slots = try KeySlots(user: credential.user, relyingPartyID: credential.server.relyingPartyID)
        let tier = try await DeclaredTier.ofThisMachine()
        let key = try await slots.create(toReplace: credential.key, protection)
        do throws(SignInError) {
            try await rotate(to: key, tier)
        } catch {
            // The server may know the new key, which the next sign-in shows.
            if error.kind != .outcomeUnknown(.rotation) { await slots.discard(key) }
            throw error
        }
        let isDone = await slots.discard(credential.key)
        return DeviceCredential(
            user: credential.user, server: credential.server, key: key, unconfirmed: isDone ? nil : credential.key)
    }

    private func rotate(to key: SlottedKey, _ tier: String) async throws(SignInError) {
        let message = BoundMessage(
            relyingPartyID: credential.server.relyingPartyID, user: credential.user, key: credential.key.identifier,
            purpose: .rotate, context: tier + ":" + Base64.url.encode(key.identifier))
        let exchange = Exchange(credential.server)
        let challenge = try await exchange.challenge(for: message)
        let bytes = message.bytes(challenge.bytes)
        let signature = try await prompt.sign(bytes, with: credential.key)
        var body = RequestBody(message, challenge, signature)
        body.newSignature = Base64.url.encode(try await prompt.sign(bytes, with: key))
        body.publicKey = RequestBody.PublicKey(key)
        body.tier = tier
        let reply: KeyReply = try await exchange.commit("rotations", body, as: .rotation, expecting: 201)
        guard reply.key == Base64.url.encode(key.identifier) else { throw SignInError(.outcomeUnknown(.rotation)) }
    }
}

extension RequestBody.PublicKey {
    fileprivate init(_ key: SlottedKey) { self.init(format: "x963", value: Base64.url.encode(key.pair.publicKey)) }
}

/// The tier that a client declares for a new key. It proves nothing; the server shows it as claimed.
private enum DeclaredTier {
    /// The tier of the daemon that stores the keys, as the daemon reports it.
    static func ofThisMachine() async throws(SignInError) -> String {
        do throws(Failure) {
            return try await KeychainStore.inBackground { () throws(Failure) in
                try AppIdentity.client().call(Request.Status()).tier.name
            }
        } catch {
            throw SignInError(.keychain, underlying: KeychainError(status: errSecNotAvailable))
        }
    }
}
