// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingPartyCrypto
import SignInVerification
import Testing

@testable import RelyingParty

struct ChallengeTests {
    private static let binding = ChallengeBinding(
        user: "Jürgen", key: [UInt8](100..<132), purpose: .login, context: "")
    private static let issued: Int64 = 1_800_003_599

    private static func keys(
        party: String = "example.com", first: UInt8 = 0, notBefore: Int64 = 0
    ) throws
        -> ChallengeKeys
    {
        var secret = [UInt8](first..<first + 32)
        return try ChallengeKeys(
            masters: [SecretBytes(taking: &secret)], relyingPartyID: party, seconds: 60,
            passkeySeconds: 60, notBefore: notBefore)
    }

    private static func refusal(
        _ bytes: [UInt8], _ binding: ChallengeBinding = binding, at now: Int64 = issued, keys: ChallengeKeys? = nil
    ) throws -> VerificationError? {
        let keys = try keys ?? Self.keys()
        do throws(VerificationError) {
            _ = try keys.check(bytes, binding, at: now)
            return nil
        } catch {
            return error
        }
    }

    private static func issue() throws -> [UInt8] {
        try keys().issue(binding, at: issued, nonce: [UInt8](200..<232))
    }

    @Test func challengesAndMessagesMatchTheVectorsOfAnotherImplementation() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/challenge.tsv")
        let fixture = try Fixture()
        var count = 0
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let cells = line.split(separator: "\t").map(String.init)
            let hex = { (bytes: [UInt8]) in bytes.map { String(format: "%02x", $0) }.joined() }
            for purpose in ChallengePurpose.withKey {
                let contexts = ["step-up": "pay 20 EUR", "rotate": "k", "revoke": "user"]
                let context = contexts[purpose.name] ?? ""
                let binding = ChallengeBinding(
                    user: "Jürgen", key: [UInt8](100..<132), purpose: purpose, context: context)
                let bytes = try Self.keys().issue(binding, at: Self.issued, nonce: [UInt8](200..<232))
                let proof = SignedProof(user: "Jürgen", key: binding.key, challenge: bytes, signature: [])
                if cells[0] == purpose.name + "-challenge" {
                    #expect(hex(bytes) == cells[1])
                    count += 1
                } else if cells[0] == purpose.name + "-message" {
                    #expect(hex(fixture.service.message(proof, purpose, context, isRaw: false)) == cells[1])
                    count += 1
                } else if cells[0] == purpose.name + "-counted" {
                    let counted = SignedProof(
                        user: "Jürgen", key: binding.key, challenge: bytes, signature: [], counter: 7)
                    #expect(hex(fixture.service.message(counted, purpose, context, isRaw: false)) == cells[1])
                    count += 1
                } else if cells[0] == purpose.name + "-nonce" {
                    #expect(hex(try fixture.service.attestationNonce(proof, purpose, context)) == cells[1])
                    count += 1
                }
            }
        }
        #expect(count == 14)
    }

    @Test func challengesOfPasskeysMatchTheVectorsOfAnotherImplementation() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/challenge.tsv")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            line.split(separator: "\t").map(String.init)
        }
        let vectors = Dictionary(uniqueKeysWithValues: lines.map { ($0[0], $0[1]) })
        let hex = { (bytes: [UInt8]) in bytes.map { String(format: "%02x", $0) }.joined() }
        let service = try Fixture(policy: Fixture.passkeys).service
        let (user, nonce) = ("Jürgen", [UInt8](200..<232))
        let handle = try service.passkeyChallenge(registering: user).userHandle
        #expect(hex(handle) == vectors["user-handle"])
        for (user, purpose, context) in [
            ("", ChallengePurpose.passkeyLogin, ""), (user, .passkeyRegister, StrictBase64.url.encode(handle)),
        ] {
            let binding = ChallengeBinding(
                user: user, key: [UInt8](repeating: 0, count: 32), purpose: purpose, context: context)
            let challenge = try Self.keys().issue(binding, at: Self.issued, nonce: nonce)
            #expect(hex(challenge) == vectors[purpose.name + "-challenge"])
            guard purpose == .passkeyRegister else { continue }
            let named = SignedProof(user: user, key: [UInt8](100..<132), challenge: challenge, signature: [])
            #expect(
                hex(service.message(named, purpose, "", isRaw: false)) == vectors["passkey-register-message"])
        }
    }

    @Test func everyChangedByteIsRefused() throws {
        let bytes = try Self.issue()
        #expect(try Self.refusal(bytes) == nil)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(try Self.refusal(changed) != nil)
        }
        for count in 0..<bytes.count { #expect(try Self.refusal(Array(bytes[..<count])) == .challengeFormat) }
        #expect(try Self.refusal(bytes + [0]) == .challengeFormat)
    }

    @Test func abuse44AChallengeIsRefusedInTheSecondInWhichItExpires() throws {
        let bytes = try Self.issue()
        #expect(try Self.refusal(bytes, at: Self.issued + 59) == nil)
        #expect(try Self.refusal(bytes, at: Self.issued + 60) == .expired)
    }

    @Test func abuse44AnotherUserKeyPurposeOrContextIsRefused() throws {
        let bytes = try Self.issue()
        let key = Self.binding.key
        for other in [
            ChallengeBinding(user: "jürgen", key: key, purpose: .login, context: ""),
            ChallengeBinding(user: "Jürgen", key: [UInt8](101..<133), purpose: .login, context: ""),
            ChallengeBinding(user: "Jürgen", key: key, purpose: .stepUp, context: ""),
            ChallengeBinding(user: "Jürgen", key: key, purpose: .login, context: "x"),
        ] { #expect(try Self.refusal(bytes, other) == .otherBinding) }
    }

    @Test func anotherRelyingPartySecretOrClockIsRefused() throws {
        let bytes = try Self.issue()
        #expect(try Self.refusal(bytes, keys: Self.keys(party: "example.org")) == .otherRelyingParty)
        #expect(try Self.refusal(bytes, keys: Self.keys(first: 1)) == .challengeCode)
        #expect(try Self.refusal(bytes, at: Self.issued - 1) == .otherEpoch)
        #expect(try Self.refusal(bytes, keys: Self.keys(notBefore: Self.issued + 1)) == .otherEpoch)
        // A process that starts in this second issues for the next one, and accepts that now.
        let started = try Self.keys(notBefore: Self.issued + 1)
        let early = try started.issue(Self.binding, at: Self.issued, nonce: [UInt8](repeating: 9, count: 32))
        #expect(try Self.refusal(early, keys: started) == nil)
    }

    @Test func thePreviousSecretIsAcceptedAndDoesNotIssue() throws {
        var old = [UInt8](0..<32)
        var new = [UInt8](1..<33)
        let both = try ChallengeKeys(
            masters: [SecretBytes(taking: &new), SecretBytes(taking: &old)], relyingPartyID: "example.com", seconds: 60,
            notBefore: 0)
        #expect(try Self.refusal(Self.issue(), keys: both) == nil)
        let issued = try both.issue(Self.binding, at: Self.issued, nonce: [UInt8](200..<232))
        #expect(try Self.refusal(issued) == .challengeCode)
    }
}
