// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAttestation
internal import RelyingPartyCrypto
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

// Requests that add, replace and revoke keys.

extension Interface {
    func register(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let names: Set<JSONName> = [
            "publicKey", "form", "tier", "device", "enrollmentCode", "sessionSignature", "attestation",
        ]
        let body = try RequestBody(request.body, allowing: names.union(RequestBody.proofNames))
        let form = try body.text("form")
        guard form == "raw" || form == "bound" else { throw .malformed("form") }
        guard let tier = DeclaredTier(rawValue: try body.text("tier")) else { throw .malformed("tier") }
        let key = try publicKey(body)
        let right: RegistrationRight =
            if let code = try body.optionalText("enrollmentCode") {
                .code(code)
            } else {
                .session(try token(request), .signature(try body.bytes("sessionSignature")))
            }
        let (proof, device) = (try body.proof(), try body.optionalText("device") ?? "")
        let evidence = try body.evidence()
        return try limited(proof.user, proof.key, network) { () throws(RelyingPartyError) in
            let attestation = try service.register(
                key, proof, right, device: device, isRaw: form == "raw", tier: tier, evidence: evidence)
            return registered(key.identifier, tier, attestation)
        }
    }

    /// Both keys sign the same message, whose context names the new key and its tier.
    func rotate(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(
            request.body, allowing: RequestBody.proofNames.union(["publicKey", "tier", "newSignature", "attestation"]))
        guard let tier = DeclaredTier(rawValue: try body.text("tier")) else { throw .malformed("tier") }
        let key = try publicKey(body)
        let (proof, signature) = (try body.proof(), try body.bytes("newSignature"))
        let evidence = try body.evidence()
        return try limited(proof.user, proof.key, network) { () throws(RelyingPartyError) in
            let attestation = try service.rotate(
                to: key, tier: tier, proof, signature: signature, evidence: evidence)
            return registered(key.identifier, tier, attestation)
        }
    }

    /// Begins the enrolment of a device, before it registers a key with evidence.
    func attest(_ request: HTTPRequest, _: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["user", "request"])
        let (challenge, enrolment) = try service.beginAttestation(body.bytes("request"), user: body.text("user"))
        return reply(
            200,
            [
                ("challenge", .string(StrictBase64.url.encode(challenge))),
                ("enrolment", .string(StrictBase64.url.encode(enrolment))),
            ])
    }

    /// The target is the context of the challenge: `user`, `device:NAME` or `key:IDENTIFIER`.
    func revoke(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: RequestBody.signedNames.union(["target"]))
        let context = try body.text("target")
        let target = try body.revocationTarget()
        let proof = try body.proof()
        return try limited(proof.user, proof.key, network) { () throws(RelyingPartyError) in
            let count = try service.revoke(target, context: context, proof)
            return reply(200, [("revokedKeys", .integer(Int64(count)))])
        }
    }

    func registered(_ key: [UInt8], _ tier: DeclaredTier, _ attestation: Attestation) -> HTTPResponse {
        reply(
            201,
            [
                ("key", .string(StrictBase64.url.encode(key))), ("proven", proven(attestation)),
                ("claimed", claimed(attestation, tier)),
            ])
    }

    /// What is proven about a key. Never joined with what is claimed.
    func proven(_ attestation: Attestation) -> JSONValue {
        .object([("device", .string(attestation.device.rawValue)), ("model", .string(attestation.model))])
    }

    /// What is claimed about a key.
    func claimed(_ attestation: Attestation, _ tier: DeclaredTier) -> JSONValue {
        .object([
            ("tier", .string(tier.rawValue)), ("userVerification", .string(attestation.claimedUserVerification)),
        ])
    }

    private func publicKey(_ body: RequestBody) throws(RelyingPartyError) -> P256PublicKey {
        let given = try body.value("publicKey")
        guard case .object(let members) = given,
            members.allSatisfy({ [JSONName("format"), "value"].contains(JSONName($0.name)) }),
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
