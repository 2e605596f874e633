// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

// Requests that add, replace and revoke keys.

extension Interface {
    func register(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let names: Set<String> = ["publicKey", "form", "tier", "device", "enrolmentCode", "sessionSignature"]
        let body = try RequestBody(request.body, allowing: names.union(RequestBody.proofNames))
        let form = try body.text("form")
        guard form == "raw" || form == "bound" else { throw .malformed("form") }
        guard let tier = DeclaredTier(rawValue: try body.text("tier")) else { throw .malformed("tier") }
        let key = try publicKey(body)
        let right: RegistrationRight =
            if let code = try body.optionalText("enrolmentCode") {
                .code(code)
            } else {
                .session(try token(request), signature: try body.bytes("sessionSignature"))
            }
        let (proof, device) = (try body.proof(), try body.optionalText("device") ?? "")
        return try limited(proof, network) { () throws(RelyingPartyError) in
            try service.register(key, proof, right, device: device, isRaw: form == "raw", tier: tier)
            return registered(key, tier)
        }
    }

    /// Both keys sign the same message, whose context names the new key and its tier.
    func rotate(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(
            request.body, allowing: RequestBody.proofNames.union(["publicKey", "tier", "newSignature"]))
        guard let tier = DeclaredTier(rawValue: try body.text("tier")) else { throw .malformed("tier") }
        let key = try publicKey(body)
        let (proof, signature) = (try body.proof(), try body.bytes("newSignature"))
        return try limited(proof, network) { () throws(RelyingPartyError) in
            try service.rotate(to: key, tier: tier, proof, signature: signature)
            return registered(key, tier)
        }
    }

    /// The target is the context of the challenge: `user`, `device:NAME` or `key:IDENTIFIER`.
    func revoke(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: RequestBody.proofNames.union(["target"]))
        let context = try body.text("target")
        let target: RelyingPartyService.RevocationTarget
        if context == "user" {
            target = .user
        } else if context.hasPrefix("device:"), context.utf8.count > 7 {
            target = .device(String(context.dropFirst(7)))
        } else if context.hasPrefix("key:"), let key = StrictBase64.url.decode(context.utf8.dropFirst(4)),
            key.count == 32
        {
            target = .key(key)
        } else {
            throw .malformed("target")
        }
        let proof = try body.proof()
        return try limited(proof, network) { () throws(RelyingPartyError) in
            let count = try service.revoke(target, context: context, proof)
            return reply(200, [("revokedKeys", .integer(Int64(count)))])
        }
    }

    private func registered(_ key: P256PublicKey, _ tier: DeclaredTier) -> HTTPResponse {
        reply(
            201, [("key", .string(StrictBase64.url.encode(key.identifier))), ("declaredTier", .string(tier.rawValue))])
    }

    private func publicKey(_ body: RequestBody) throws(RelyingPartyError) -> P256PublicKey {
        let given = try body.value("publicKey")
        guard case .object(let members) = given, members.allSatisfy({ ["format", "value"].contains($0.name) }),
            let format = given.member("format")?.text, let value = given.member("value")
        else {
            throw .malformed("publicKey")
        }
        let key: P256PublicKey?
        do throws(CryptoFailure) {
            key = try PublicKeyInput.read(format, value)
        } catch {
            throw .unavailable("libcrypto failed.")
        }
        guard let key else { throw .malformed("publicKey") }
        return key
    }
}
