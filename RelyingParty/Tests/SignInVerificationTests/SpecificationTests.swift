// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import Testing

@testable import SignInVerification

/// The relying party of the vectors is `example.org`.
struct SpecificationTests {
    private static let party = Result { try LibCrypto.sha256(Array("example.org".utf8)) }
    private static let origins: Set<String> = ["https://example.org"]
    private static let accepted = [
        "none.ES256", "packed-self.ES256", "none.ES256.long-credential-id", "packed.ES256", "packed.RS256",
        "packed.EdDSA",
    ]
    private static let framed = ["none.ES256.crossOrigin", "none.ES256.topOrigin"]

    private static func refusal(_ body: () throws -> Void) -> VerificationError? {
        do {
            try body()
            return nil
        } catch {
            return error as? VerificationError
        }
    }

    @Test(arguments: accepted + framed) func registrationsOfTheSpecificationAreRead(_ name: String) throws {
        let client = try ClientData(Vectors.value(name, "clientDataJSON"))
        #expect(try client.challenge == Vectors.value(name, "challenge"))
        let object = try AttestationObject(Vectors.value(name, "attestationObject"))
        #expect(try object.credential.identifier == Vectors.value(name, "credential"))
        #expect(try object.credential.authenticator == Vectors.value(name, "aaguid"))
        #expect(object.authenticatorData.counter == 0 && object.authenticatorData.isUserPresent)
        let statements: [String: Passkey.Statement] = [
            "packed-self.ES256": .own, "packed.ES256": .certificate, "packed.RS256": .certificate,
            "packed.EdDSA": .certificate,
        ]
        let hash = try LibCrypto.sha256(Vectors.value(name, "clientDataJSON"))
        #expect(try object.verify(clientDataHash: hash) == statements[name] ?? .none)
    }

    @Test(arguments: accepted + framed) func assertionsOfTheSpecificationAreValid(_ name: String) throws {
        let object = try AttestationObject(Vectors.value(name, "attestationObject"))
        let (data, json) = try (
            Vectors.value(name, "assertion-authenticatorData"), Vectors.value(name, "assertion-clientDataJSON")
        )
        #expect(try ClientData(json).challenge == Vectors.value(name, "assertion-challenge"))
        #expect(try AuthenticatorData(data).credential == nil)
        let signature = try Vectors.value(name, "assertion-signature")
        #expect(object.credential.key.isValid(signature, for: data + (try LibCrypto.sha256(json))))
        #expect(!object.credential.key.isValid(signature, for: data + json))
    }

    /// The vectors choose at random whether the user was verified; this server demands it.
    @Test func theFlagsOfTheVectorsDecide() throws {
        let expected: [String: (VerificationError?, VerificationError?)] = [
            "none.ES256": (.userVerification, .userVerification), "packed-self.ES256": (nil, .userVerification),
            "none.ES256.long-credential-id": (.userVerification, nil), "packed.ES256": (nil, nil),
            "none.ES256.crossOrigin": (nil, nil), "none.ES256.topOrigin": (.userVerification, nil),
            "packed.RS256": (nil, .userVerification), "packed.EdDSA": (.userVerification, .userVerification),
        ]
        let party = try Self.party.get()
        for (name, (registration, assertion)) in expected {
            let made = try AttestationObject(Vectors.value(name, "attestationObject")).authenticatorData
            let used = try AuthenticatorData(Vectors.value(name, "assertion-authenticatorData"))
            #expect(Self.refusal { try made.check(relyingParty: party) } == registration, "\(name)")
            #expect(Self.refusal { try used.check(relyingParty: party) } == assertion, "\(name)")
            #expect(Self.refusal { try used.check(relyingParty: [UInt8](repeating: 0, count: 32)) } == .relyingParty)
        }
    }

    @Test func pagesInFramesOfOthersAndOtherPagesAreRefused() throws {
        for name in Self.accepted + Self.framed {
            let client = try ClientData(Vectors.value(name, "clientDataJSON"))
            let isFramed = Self.framed.contains(name)
            #expect(
                Self.refusal { try client.check(.registration, origins: Self.origins) } == (isFramed ? .origin : nil))
            #expect(Self.refusal { try client.check(.assertion, origins: Self.origins) } == .type)
            #expect(Self.refusal { try client.check(.registration, origins: ["https://example.com"]) } == .origin)
            #expect(Self.refusal { try client.check(.registration, origins: []) } == .origin)
        }
    }

    /// Every byte of what is signed, and of the signature, is changed once.
    @Test(arguments: ["packed-self.ES256", "packed.ES256"]) func everyChangedSignedByteIsRefused(_ name: String) throws
    {
        let (object, client) = try (Vectors.value(name, "attestationObject"), Vectors.value(name, "clientDataJSON"))
        let hash = try LibCrypto.sha256(client)
        #expect(throws: Never.self) { try AttestationObject(object).verify(clientDataHash: hash) }
        for index in client.indices {
            var changed = client
            changed[index] ^= 1
            let other = try LibCrypto.sha256(changed)
            #expect(Self.refusal { _ = try AttestationObject(object).verify(clientDataHash: other) } == .attestation)
        }
        // Issuer and signature of a certificate are not compared: without a list of makers they say nothing.
        let end = try #require(object.indices.first { object[$0...].starts(with: Array("authData".utf8)) })
        let start = object.indices.first { object[$0...].starts(with: Array("x5c".utf8)) } ?? end
        for index in Array(0..<start) + Array(end..<object.count) {
            for bit: UInt8 in [1, 0x80] {
                var changed = object
                changed[index] ^= bit
                let refusal = Self.refusal { _ = try AttestationObject(changed).verify(clientDataHash: hash) }
                #expect(refusal != nil, "\(index) \(bit)")
            }
        }
        for count in 0..<object.count {
            #expect(Self.refusal { _ = try AttestationObject(Array(object[..<count])) } != nil)
        }
        #expect(Self.refusal { _ = try AttestationObject(object + [0]) } == .attestationObject)
    }

    @Test func aStatementOfTheFormatNoneIsEmpty() throws {
        let object = try Vectors.value("none.ES256", "attestationObject")
        let (empty, full): ([UInt8], [UInt8]) = (
            Array("attStmt".utf8) + [0xa0], Array("attStmt".utf8) + [0xa1, 0x00, 0x00]
        )
        let index = try #require(object.indices.first { object[$0...].starts(with: empty) })
        let changed = object[..<index] + full + object[(index + empty.count)...]
        let read = try AttestationObject(Array(changed))
        #expect(Self.refusal { _ = try read.verify(clientDataHash: []) } == .attestation)
    }
}
