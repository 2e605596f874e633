// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the readers of CBOR, authenticator data, attestation objects, client data and responses;
// `scripts/fuzz 60 passkey` runs it. The tests of RelyingParty check the same properties for the corpus.

import RelyingPartyCrypto
import RelyingPartyJSON
import SignInVerification

/// The properties of what an authenticator and a browser send.
enum FuzzedPasskey {
    private static let origin = "https://example.com"

    /// Reads one input and describes how it violates a property; nil when it does not. The first byte chooses the reader.
    static func complaint(about input: [UInt8]) -> String? {
        guard let choice = input.first else { return nil }
        let bytes = Array(input.dropFirst())
        switch choice & 7 {
        case 0, 4: return cbor(bytes)
        case 1, 5: return authenticatorData(bytes)
        case 2, 6: return attestationObject(bytes)
        case 3: return clientData(bytes)
        default: return responses(bytes)
        }
    }

    /// What is read are members of the text.
    private static func responses(_ bytes: [UInt8]) -> String? {
        guard let read = try? PasskeyAssertionResponse(json: bytes) else {
            _ = try? PasskeyRegistrationResponse(json: bytes)
            return nil
        }
        let response = (try? JSONReader.read(bytes))?.member("response")
        let text = { (bytes: [UInt8]) in JSONValue.string(StrictBase64.url.encode(bytes)) }
        let isRight =
            response?.member("signature") == text(read.signature)
            && response?.member("clientDataJSON") == text(read.clientDataJSON) && read.userHandle?.isEmpty != true
        return isRight ? nil : "reads other bytes than those of the text"
    }

    /// Every value has one encoding.
    private static func cbor(_ bytes: [UInt8]) -> String? {
        guard let value = try? CBORReader.read(bytes) else { return nil }
        return encode(value) == bytes ? nil : "a value of CBOR has another encoding"
    }

    private static func authenticatorData(_ bytes: [UInt8]) -> String? {
        guard let data = try? AuthenticatorData(bytes) else { return nil }
        guard data.relyingParty == Array(bytes[..<32]) else { return "another relying party" }
        guard (try? AuthenticatorData(bytes + [0])) == nil else { return "accepts a trailing byte" }
        guard (data.credential != nil) == (bytes[32] & 0x40 != 0) else { return "a credential without its flag" }
        if let credential = data.credential {
            guard AuthenticatorData.identifierBytes.contains(credential.identifier.count),
                credential.authenticator.count == 16,
                (try? VerificationKey(algorithm: credential.key.algorithm, bytes: credential.key.bytes))
                    == credential.key
            else { return "a credential with a part of another length" }
        }
        // The empty digest is no relying party's.
        return (try? data.check(relyingParty: [])) == nil ? nil : "accepts another relying party"
    }

    /// There is no signature for this hash, so only an empty statement is accepted.
    private static func attestationObject(_ bytes: [UInt8]) -> String? {
        guard let object = try? AttestationObject(bytes) else { return nil }
        guard (try? AttestationObject(bytes + [0])) == nil else { return "accepts a trailing byte" }
        guard let statement = try? object.verify(clientDataHash: [UInt8](repeating: 0, count: 32)) else { return nil }
        return statement == .none ? nil : "accepts a statement without a valid signature"
    }

    private static func clientData(_ bytes: [UInt8]) -> String? {
        guard let client = try? ClientData(bytes) else { return nil }
        // One byte order mark is removed.
        let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
        guard let json = try? JSONReader.read(text) else { return "accepts what is not JSON" }
        guard (try? client.check(.assertion, origins: [origin])) != nil else { return nil }
        let isRight =
            json.member("type") == .string("webauthn.get") && json.member("origin") == .string(origin)
            && json.member("topOrigin") == nil && [nil, .bool(false)].contains(json.member("crossOrigin"))
        return isRight ? nil : "accepts another operation or page"
    }

    private static func head(_ major: UInt8, _ number: UInt64) -> [UInt8] {
        let kind = major << 5
        let (information, size): (UInt8, UInt64) =
            switch number {
            case 0..<24: (UInt8(number), 0)
            case 24..<0x100: (24, 1)
            case 0x100..<0x1_0000: (25, 2)
            case 0x1_0000..<0x1_0000_0000: (26, 4)
            default: (27, 8)
            }
        return [kind | information]
            + (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func encode(_ value: CBORValue) -> [UInt8] {
        switch value {
        case .integer(let number):
            number >= 0 ? head(0, UInt64(number)) : head(1, UInt64(-1 - number))
        case .bytes(let bytes): head(2, UInt64(bytes.count)) + bytes
        case .text(let text): head(3, UInt64(text.utf8.count)) + text.utf8
        case .array(let values): head(4, UInt64(values.count)) + values.flatMap(encode)
        case .map(let entries):
            head(5, UInt64(entries.count)) + entries.flatMap { encode($0.key) + encode($0.value) }
        case .bool(let value): [value ? 0xf5 : 0xf4]
        case .null: [0xf6]
        }
    }
}
