// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
internal import RelyingPartyAttestation
internal import RelyingPartyCrypto
package import RelyingPartyJSON
package import SignInVerification

/// The object in the body of a request, whose members are all known.
package struct RequestBody {
    private let object: JSONValue

    /// - Parameters:
    ///   - bytes: the body.
    ///   - names: the members that may appear. Others are refused: a client that misspells one would believe that it
    ///     had an effect.
    package init(_ bytes: [UInt8], allowing names: Set<JSONName>) throws(RelyingPartyError) {
        let value: JSONValue
        do throws(JSONReader.Failure) {
            value = try JSONReader.read(bytes)
        } catch {
            throw .malformed("JSON: \(error)")
        }
        guard case .object(let members) = value, members.allSatisfy({ names.contains(JSONName($0.name)) }) else {
            throw .malformed("members")
        }
        object = value
    }

    /// Reads a form (WHATWG URL, section 5.1), whose members are texts.
    ///
    /// - Parameters:
    ///   - form: the body.
    ///   - names: the members that may appear, once each.
    init(form: [UInt8], allowing names: Set<JSONName>) throws(RelyingPartyError) {
        var members: [(name: String, value: JSONValue)] = []
        for pair in form.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.decoded(parts[0]), let value = Self.decoded(parts[1]),
                names.contains(JSONName(name)), !members.contains(where: { JSONName($0.name) == JSONName(name) })
            else { throw .malformed("members") }
            members.append((name, .string(value)))
        }
        object = .object(members)
    }

    /// A text of a form: a plus is a blank, and a percent sign has two hexadecimal digits; nil for anything else, and for bytes
    /// that are not UTF-8.
    private static func decoded(_ text: some Collection<UInt8>) -> String? {
        var (bytes, rest) = ([UInt8](), Array(text)[...])
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst(), let low = rest.popFirst(),
                    let value = UInt8(hexadecimal: high, low)
                else { return nil }
                bytes.append(value)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private init(_ members: [(name: String, value: JSONValue)]) { object = .object(members) }

    package func value(_ name: String) throws(RelyingPartyError) -> JSONValue {
        guard let value = object.member(name) else { throw .malformed(name) }
        return value
    }

    package func text(_ name: String) throws(RelyingPartyError) -> String {
        guard let text = try value(name).text else { throw .malformed(name) }
        return text
    }

    package func flag(_ name: String) throws(RelyingPartyError) -> Bool {
        guard case .bool(let flag) = try value(name) else { throw .malformed(name) }
        return flag
    }

    /// Nil when the member does not exist; another type or text is malformed.
    package func optionalBytes(_ name: String) throws(RelyingPartyError) -> [UInt8]? {
        object.member(name) == nil ? nil : try bytes(name)
    }

    /// Nil when the member does not exist; another type than a string is malformed.
    package func optionalText(_ name: String) throws(RelyingPartyError) -> String? {
        object.member(name) == nil ? nil : try text(name)
    }

    /// Nil when the member does not exist.
    package func optionalValue(_ name: String) -> JSONValue? { object.member(name) }

    /// A whole number that is not negative; nil when the member does not exist.
    package func number(_ name: String) throws(RelyingPartyError) -> Int64? {
        guard let value = object.member(name) else { return nil }
        guard let number = value.wholeNumber else { throw .malformed(name) }
        return number
    }

    package func bytes(_ name: String) throws(RelyingPartyError) -> [UInt8] {
        guard let bytes = StrictBase64.url.decode(try text(name).utf8) else { throw .malformed(name) }
        return bytes
    }

    /// The members of a proof.
    package static let proofNames: Set<JSONName> = ["user", "key", "challenge", "signature"]

    /// The members of a proof of any form of key: a passkey has `credential` in place of challenge and signature. A request that no
    /// passkey signs does not allow it.
    package static let signedNames = proofNames.union(["credential"])

    package func proof() throws(RelyingPartyError) -> SignedProof {
        guard object.member("credential") != nil else {
            return SignedProof(
                user: try text("user"), key: try bytes("key"), challenge: try bytes("challenge"),
                signature: try bytes("signature"), counter: try number("counter"))
        }
        // Two challenges, signatures or counters of one proof could be different ones.
        guard ["challenge", "signature", "counter"].allSatisfy({ object.member($0) == nil }) else {
            throw .malformed("credential")
        }
        return SignedProof(user: try text("user"), key: try bytes("key"), assertion: try assertion())
    }

    /// The member `credential` of a registration: what `toJSON()` makes of a new passkey.
    package func registration() throws(RelyingPartyError) -> PasskeyRegistrationResponse {
        let json = try value("credential")
        do throws(VerificationError) {
            return try PasskeyRegistrationResponse(json)
        } catch {
            throw RelyingPartyService.error(error)
        }
    }

    /// The member `credential` of another request: what `toJSON()` makes of the answer of a passkey.
    package func assertion() throws(RelyingPartyError) -> PasskeyAssertionResponse {
        let json = try value("credential")
        do throws(VerificationError) {
            return try PasskeyAssertionResponse(json)
        } catch {
            throw RelyingPartyService.error(error)
        }
    }

    /// How the key of a session names a new key: a signature, or the answer of a passkey.
    package func sessionProof() throws(RelyingPartyError) -> SessionProof {
        guard case .object(let members) = try value("sessionProof") else { throw .malformed("sessionProof") }
        let proof = RequestBody(members)
        switch members.map({ JSONName($0.name) }) {
        case ["signature"]: return .signature(try proof.bytes("signature"))
        case ["credential"]: return .assertion(try proof.assertion())
        default: throw .malformed("sessionProof")
        }
    }

    /// How an administrator proves the key of the session again: a code, or an assertion of a passkey.
    package func administratorProof() throws(RelyingPartyError) -> AdministratorProof {
        guard case .object(let members) = try value("proof") else { throw .malformed("proof") }
        let proof = RequestBody(members)
        switch members.map({ JSONName($0.name) }) {
        case ["code"]: return .code(try proof.bytes("code"))
        case ["credential"]: return .passkey(try proof.assertion())
        default: throw .malformed("proof")
        }
    }

    /// The member `target`: `user`, `device:NAME` or `key:IDENTIFIER`.
    package func revocationTarget() throws(RelyingPartyError) -> RelyingPartyService.RevocationTarget {
        let text = try text("target")
        if text == "user" { return .user }
        // Bytes and not characters: the colon and a combining mark after it are one character.
        if text.utf8.starts(with: "device:".utf8), let name = String(text.utf8.dropFirst(7)), !name.isEmpty {
            return .device(name)
        }
        guard text.utf8.starts(with: "key:".utf8), let key = StrictBase64.url.decode(text.utf8.dropFirst(4)),
            key.count == 32
        else {
            throw .malformed("target")
        }
        return .key(key)
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

extension UInt8 {
    /// The value of two hexadecimal digits; nil for other characters.
    fileprivate init?(hexadecimal high: UInt8, _ low: UInt8) {
        guard let high = Self.digit(high), let low = Self.digit(low) else { return nil }
        self = high << 4 | low
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x37
        case 0x61...0x66: character - 0x57
        default: nil
        }
    }
}
