// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAttestation
internal import RelyingPartyCrypto
internal import RelyingPartyJSON

/// The object in the body of a request, whose members are all known.
struct RequestBody {
    private let object: JSONValue

    /// - Parameters:
    ///   - bytes: the body.
    ///   - names: the members that may appear. Others are refused: a client that misspells one would believe that it
    ///     had an effect.
    init(_ bytes: [UInt8], allowing names: Set<String>) throws(RelyingPartyError) {
        let value: JSONValue
        do throws(JSONReader.Failure) {
            value = try JSONReader.read(bytes)
        } catch {
            throw .malformed("JSON: \(error)")
        }
        guard case .object(let members) = value, members.allSatisfy({ names.contains($0.name) }) else {
            throw .malformed("members")
        }
        object = value
    }

    private init(_ members: [(name: String, value: JSONValue)]) { object = .object(members) }

    func value(_ name: String) throws(RelyingPartyError) -> JSONValue {
        guard let value = object.member(name) else { throw .malformed(name) }
        return value
    }

    func text(_ name: String) throws(RelyingPartyError) -> String {
        guard let text = try value(name).text else { throw .malformed(name) }
        return text
    }

    /// Nil when the member does not exist; another type or text is malformed.
    func optionalBytes(_ name: String) throws(RelyingPartyError) -> [UInt8]? {
        object.member(name) == nil ? nil : try bytes(name)
    }

    /// Nil when the member does not exist; another type than a string is malformed.
    func optionalText(_ name: String) throws(RelyingPartyError) -> String? {
        object.member(name) == nil ? nil : try text(name)
    }

    func bytes(_ name: String) throws(RelyingPartyError) -> [UInt8] {
        guard let bytes = StrictBase64.url.decode(try text(name).utf8) else { throw .malformed(name) }
        return bytes
    }

    /// The members of a proof.
    static let proofNames: Set<String> = ["user", "key", "challenge", "signature"]

    /// The members that a proof of a passkey has besides. A request that no passkey signs does not allow them.
    static let assertionNames: Set<String> = ["clientDataJSON", "authenticatorData"]

    /// The members of a proof of any form of key.
    static let signedNames = proofNames.union(assertionNames)

    func proof() throws(RelyingPartyError) -> SignedProof {
        let isAssertion = Self.assertionNames.contains { object.member($0) != nil }
        return SignedProof(
            user: try text("user"), key: try bytes("key"), challenge: try bytes("challenge"),
            signature: try bytes("signature"), counter: try counter(), assertion: isAssertion ? try assertion() : nil)
    }

    func assertion() throws(RelyingPartyError) -> PasskeyAssertion {
        PasskeyAssertion(
            clientDataJSON: try bytes("clientDataJSON"), authenticatorData: try bytes("authenticatorData"))
    }

    /// How the key of a session names a new key: a signature, or an assertion of a passkey.
    func sessionProof() throws(RelyingPartyError) -> SessionProof {
        guard case .object(let members) = try value("sessionProof") else { throw .malformed("sessionProof") }
        let proof = RequestBody(members)
        let signature = try proof.bytes("signature")
        switch Set(members.map(\.name)) {
        case ["signature"]: return .signature(signature)
        case Self.assertionNames.union(["signature"]): return .assertion(try proof.assertion(), signature: signature)
        default: throw .malformed("sessionProof")
        }
    }

    /// A counter is optional. A request that may have none does not allow the member.
    private func counter() throws(RelyingPartyError) -> Int64? {
        guard let value = object.member("counter") else { return nil }
        guard let number = value.wholeNumber else { throw .malformed("counter") }
        return number
    }

    /// The evidence that a key is in a TPM, which is optional.
    func evidence() throws(RelyingPartyError) -> AttestationEvidence? {
        guard let value = object.member("attestation") else { return nil }
        guard case .object(let members) = value, members.count == 3 else { throw .malformed("attestation") }
        func part(_ name: String) throws(RelyingPartyError) -> [UInt8] {
            guard let bytes = value.member(name)?.text.flatMap({ StrictBase64.url.decode($0.utf8) }) else {
                throw .malformed("attestation")
            }
            return bytes
        }
        return AttestationEvidence(
            enrolment: try part("enrolment"), answer: try part("answer"), proof: try part("proof"))
    }
}
