// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import Testing

@testable import SignInVerification

/// Authenticator data are built from WebAuthn Level 3, section 6.1.
struct AuthenticatorDataTests {
    private static let party = [UInt8](1...32)
    private static let x = Array(P256PublicKey.basePoint[1..<33])
    private static let y = Array(P256PublicKey.basePoint[33...])
    private static let pair: (x: [UInt8], y: [UInt8]) = ([0x21, 0x58, 0x20] + x, [0x22, 0x58, 0x20] + y)
    private static let cose: [UInt8] = [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01] + pair.x + pair.y

    private static func data(_ flags: UInt8, counter: [UInt8] = [0, 0, 0, 7], _ rest: [UInt8] = []) -> [UInt8] {
        party + [flags] + counter + rest
    }

    private static func attested(_ key: [UInt8] = cose, count: Int = 16) -> [UInt8] {
        [UInt8](repeating: 0xaa, count: 16) + [UInt8(count >> 8), UInt8(count & 255)]
            + [UInt8](repeating: 0xcc, count: count) + key
    }

    private static func refusal(_ bytes: [UInt8]) -> VerificationError? {
        do throws(VerificationError) {
            _ = try AuthenticatorData(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func everyFieldIsRead() throws {
        let read = try AuthenticatorData(Self.data(0x5d, counter: [0x80, 0, 0, 1], Self.attested(count: 300)))
        #expect(read.relyingParty == Self.party && read.counter == 0x8000_0001)
        #expect(read.isUserPresent && read.isUserVerified && read.canBeBackedUp && read.isBackedUp)
        #expect(read.credential?.authenticator == [UInt8](repeating: 0xaa, count: 16))
        #expect(read.credential?.identifier == [UInt8](repeating: 0xcc, count: 300))
        #expect(read.credential?.key.bytes == P256PublicKey.basePoint)
        let bare = try AuthenticatorData(Self.data(0))
        #expect(!bare.isUserPresent && !bare.isUserVerified && !bare.canBeBackedUp && !bare.isBackedUp)
        #expect(bare.credential == nil)
    }

    @Test(
        arguments: [
            (0x04, .userPresence), (0x01, .userVerification), (0x15, .backupState), (0x05, nil), (0x0d, nil),
            (0x1d, nil),
            // The reserved flags.
            (0x27, nil),
        ] as [(UInt8, VerificationError?)])
    func theFlagsAreDemanded(_ flags: UInt8, _ expected: VerificationError?) throws {
        let read = try AuthenticatorData(Self.data(flags))
        var found: VerificationError?
        do throws(VerificationError) { try read.check(relyingParty: Self.party) } catch { found = error }
        #expect(found == expected)
    }

    /// The lengths of identifiers: at least 16 bytes, and no more than 1,023.
    @Test(arguments: [(0, false), (15, false), (16, true), (1023, true), (1024, false)])
    func identifiersHaveTheirLength(_ count: Int, _ isAccepted: Bool) {
        #expect((Self.refusal(Self.data(0x45, Self.attested(count: count))) == nil) == isAccepted)
    }

    @Test func theFlagsSayWhatFollows() {
        let attested = Self.attested()
        #expect(Self.refusal(Self.data(0x45, attested)) == nil)
        for wrong in [
            Self.data(0x45), Self.data(0x05, attested), Self.data(0x45, attested + [0]), Self.data(0x05, [0]),
            Self.data(0x85), Self.data(0xc5, attested), Self.data(0x85, [0xa0, 0xa0]), Self.data(0x85, [0x80]),
            // Extensions with a duplicate key, and of an indefinite length.
            Self.data(0x85, [0xa2, 0x61, 0x61, 0xf5, 0x61, 0x61, 0xf5]), Self.data(0x85, [0xbf, 0xff]),
        ] {
            #expect(Self.refusal(wrong) == .authenticatorData)
        }
        #expect(Self.refusal(Self.data(0x85, [0xa0])) == nil)
        #expect(Self.refusal(Self.data(0xc5, attested + [0xa1, 0x61, 0x61, 0xf5])) == nil)
        let whole = Self.data(0xc5, attested + [0xa0])
        for count in 0..<whole.count { #expect(Self.refusal(Array(whole[..<count])) != nil) }
    }

    @Test func keysOfES256HaveExactlyTheirParameters() {
        let es256: [UInt8] = [0x01, 0x02, 0x03, 0x26, 0x20, 0x01]
        for (key, name) in [
            ([0xa5, 0x01, 0x02, 0x03, 0x38, 0x22, 0x20, 0x02] + Self.pair.x + Self.pair.y, "ES384"),
            ([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x02] + Self.pair.x + Self.pair.y, "P-384"),
            ([0xa5, 0x01, 0x03, 0x03, 0x26, 0x20, 0x01] + Self.pair.x + Self.pair.y, "another type"),
            ([0xa5] + es256 + Self.pair.x + [0x22, 0xf5], "a compressed point"),
            ([0xa5] + es256 + Self.pair.x + [0x22, 0x58, 0x20] + Self.x, "no point of the curve"),
            ([0xa5] + es256 + [0x21, 0x58, 0x1f] + Self.x.dropLast() + Self.pair.y, "a short coordinate"),
            ([0xa5] + es256 + [0x21, 0x58, 0x21, 0x00] + Self.x + Self.pair.y, "a long coordinate"),
            ([0xa4] + es256 + Self.pair.x, "no y"),
            ([0xa4, 0x01, 0x02, 0x20, 0x01] + Self.pair.x + Self.pair.y, "no algorithm"),
            ([0xa6] + es256 + Self.pair.x + Self.pair.y + [0x23, 0x40], "a private part"), ([0xa0], "nothing"),
            ([0x80], "no map"),
        ] as [([UInt8], String)] {
            #expect(Self.refusal(Self.data(0x45, Self.attested(key))) == .publicKey, "\(name)")
        }
        let swapped = [0xa5, 0x03, 0x26, 0x01, 0x02, 0x20, 0x01] + Self.pair.x + Self.pair.y
        #expect(Self.refusal(Self.data(0x45, Self.attested(swapped))) == .authenticatorData)
    }
}
