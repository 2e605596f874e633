// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LatchkeySignIn

/// Challenges of servers that lie: each is refused for its own reason.
@Suite struct ServerChallengeTests {
    private let message = ChallengeVectors.message(.login, "")
    private let issued = ChallengeVectors.issued

    private func refusal(
        _ challenge: [UInt8], for message: BoundMessage? = nil, at now: Int64? = nil, serverTime: Int64? = nil
    ) -> SignInError.Kind? {
        do throws(SignInError) {
            _ = try ServerChallenge(
                challenge, for: message ?? self.message, at: now ?? issued, serverTime: serverTime)
            return nil
        } catch {
            return error.kind
        }
    }

    private func challenge(_ change: (inout [UInt8]) -> Void = { _ in }) throws -> [UInt8] {
        var bytes = try #require(ChallengeVectors.read()["login-challenge"])
        change(&bytes)
        return bytes
    }

    private func withTimes(_ issued: Int64, _ expiry: Int64) throws -> [UInt8] {
        try challenge { bytes in
            for index in 0..<8 {
                bytes[65 + index] = UInt8(truncatingIfNeeded: issued >> (56 - 8 * index))
                bytes[73 + index] = UInt8(truncatingIfNeeded: expiry >> (56 - 8 * index))
            }
        }
    }

    @Test func anotherLengthOrVersionIsNotUnderstood() throws {
        for bytes in [
            [], [1], try challenge { $0.removeLast() }, try challenge { $0.append(0) }, try challenge { $0[0] = 2 },
        ] {
            #expect(refusal(bytes) == .unexpectedReply)
        }
    }

    @Test func aChallengeOfAnotherRelyingPartyIsRefused() throws {
        for index in 1..<33 { #expect(refusal(try challenge { $0[index] ^= 1 }) == .otherRelyingParty) }
        let other = BoundMessage(
            relyingPartyID: "example.org", user: message.user, key: message.key, purpose: .login)
        #expect(refusal(try challenge(), for: other) == .otherRelyingParty)
    }

    @Test func aChallengeForAnotherUserKeyPurposeOrContextIsRefused() throws {
        for index in 33..<65 { #expect(refusal(try challenge { $0[index] ^= 1 }) == .foreignChallenge) }
        for purpose in [BoundMessage.Purpose.stepUp, .register, .rotate, .revoke] {
            #expect(refusal(try challenge(), for: ChallengeVectors.message(purpose, "")) == .foreignChallenge)
        }
        #expect(refusal(try challenge(), for: ChallengeVectors.message(.login, "x")) == .foreignChallenge)
        let bob = BoundMessage(relyingPartyID: "example.com", user: "bob", key: message.key, purpose: .login)
        #expect(refusal(try challenge(), for: bob) == .foreignChallenge)
        let key = BoundMessage(relyingPartyID: "example.com", user: message.user, key: [0], purpose: .login)
        #expect(refusal(try challenge(), for: key) == .foreignChallenge)
    }

    @Test func aStaleChallengeIsRefusedByTheTimeOfTheServer() throws {
        let bytes = try challenge()
        #expect(refusal(bytes, at: issued + 89, serverTime: issued + 89) == nil)
        #expect(refusal(bytes, at: issued + 90, serverTime: issued + 90) == .staleChallenge)
        #expect(refusal(bytes, at: issued - 30, serverTime: issued - 30) == nil)
        #expect(refusal(bytes, at: issued - 31, serverTime: issued - 31) == .staleChallenge)
    }

    @Test func aClockThatDiffersIsNamedInMinutes() throws {
        let bytes = try challenge()
        #expect(refusal(bytes, at: issued + 300, serverTime: issued) == nil)
        #expect(refusal(bytes, at: issued + 301, serverTime: issued) == .clockDiffers(minutes: 5))
        #expect(refusal(bytes, at: issued + 3600, serverTime: issued) == .clockDiffers(minutes: 60))
        #expect(refusal(bytes, at: issued - 3600, serverTime: issued) == .clockDiffers(minutes: -60))
        #expect(refusal(bytes, at: issued + 3600) == .clockDiffers(minutes: 60), "the challenge is the only clock")
        #expect(refusal(bytes, at: issued - 3631) == .clockDiffers(minutes: -61))
    }

    @Test func timesWithoutMeaningAreRefused() throws {
        for (first, last) in [
            (issued, issued), (issued, issued - 1), (issued, issued + 601), (0, .max), (.min, issued), (-1, issued),
            (issued, .min), (.max - 1, .max),
        ] {
            let kind = refusal(try withTimes(first, last), serverTime: issued)
            #expect(kind == .staleChallenge, "\(first) to \(last)")
        }
        #expect(refusal(try withTimes(issued, issued + 600)) == nil)
        #expect(refusal(try challenge(), at: .min, serverTime: .max) == .unexpectedReply)
    }
}

@Suite struct HTTPDateTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)]) func dateOfRFC9110IsRead(text: String, seconds: Int64)
    {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:3x GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 08:4:937 GMT ",
    ]) func otherFormsAreNotRead(text: String) { #expect(HTTPDate.seconds(text) == nil) }
}
