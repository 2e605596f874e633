// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingPartyCrypto
import ServerTestSupport
import SignInVerification
import Testing

@testable import RelyingParty

/// Refusals cost the same for users, keys and codes that exist and for ones that do not.
///
/// Compared is the area under the curve of the ranks (Mann and Whitney): the probability that one kind takes longer than
/// the other, 0.5 if they cannot be told apart. The samples alternate, so that other load of the machine hits both. With 200
/// of each kind the standard deviation of the area is 0.03.
///
/// Each duration is that of a client on a cable without other traffic: 0 to 20 µs are added to it. Without them, kinds that
/// differ by 1 of 159 µs on an idle machine have an area of 0.72, which no client can see.
@Suite(.serialized) struct TimingTests {
    private static let samples = 200
    /// Durations on a machine in other use. Without the measures that are tested the areas are 0.9 and above.
    private static let bounds = 0.3...0.7
    private static let networkNanoseconds: UInt64 = 20_000

    private static func area(_ left: [UInt64], _ right: [UInt64]) -> Double {
        var wins = 0.0
        for a in left {
            for b in right { wins += a > b ? 1 : a == b ? 0.5 : 0 }
        }
        return wins / Double(left.count * right.count)
    }

    private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Runs both kinds in turn; `prepare` is not measured.
    private static func compare<Proof>(
        _ clock: clockid_t, _ kinds: [() throws -> Proof], _ refusal: (Proof) throws -> Void
    ) throws -> Double {
        var durations: [[UInt64]] = [[], []]
        var network = Congruential(state: 1)
        for index in 0..<(samples + 10) {
            // The order changes each time, because the first may warm caches for the second.
            for kind in index.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                let proof = try kinds[kind]()
                let began = nanoseconds(clock)
                try refusal(proof)
                let duration = nanoseconds(clock) - began + network.next() % networkNanoseconds
                if index >= 10 { durations[kind].append(duration) }
            }
        }
        for kind in 0..<2 { durations[kind].sort() }
        print("medians: \(durations.map { $0[samples / 2] / 1000 }) µs")
        return area(durations[0], durations[1])
    }

    private static func onDisk(_ body: (Fixture) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(try Fixture(path: folder.appending(path: "server.sqlite").path, policy: Fixture.passkeys))
    }

    @Test func aWrongCodeTakesAsLongForUsersWithACodeAsForOthers() throws {
        try Self.onDisk { fixture in
            let key = try TestKey()
            for index in 0..<50 { _ = try fixture.service.makeCode(for: "user\(index)") }
            _ = try fixture.service.makeCode(for: "ada")
            let area = try Self.compare(
                CLOCK_THREAD_CPUTIME_ID,
                [{ try fixture.proof(key, "ada", .register) }, { try fixture.proof(key, "eve", .register) }]
            ) { proof in
                #expect(throws: RelyingPartyError.refused(.wrongCode)) {
                    try fixture.service.register(
                        key.publicKey, proof, .code("0000-0000-0000-0000"), device: "", isRaw: false, tier: .user)
                }
            }
            print("wrong code, with and without a code: area \(area)")
            #expect(Self.bounds.contains(area))
        }
    }

    @Test(arguments: [false, true])
    func aWrongSignatureCostsAsMuchForKeysAndUsersThatExistAsForOthers(_ isOtherUser: Bool) throws {
        try Self.onDisk { fixture in
            let (known, unknown) = (try TestKey(), try TestKey())
            try fixture.register(known)
            for _ in 0..<15 { try fixture.register(TestKey(), "bob") }
            let area = try Self.compare(
                CLOCK_THREAD_CPUTIME_ID,
                [
                    { try fixture.proof(known, "ada").forged },
                    { try fixture.proof(isOtherUser ? known : unknown, isOtherUser ? "eve" : "ada").forged },
                ]
            ) { proof in
                #expect(throws: RelyingPartyError.self) { try fixture.service.signIn(proof) }
            }
            print("wrong signature, known and unknown \(isOtherUser ? "user" : "key"): area \(area)")
            #expect(Self.bounds.contains(area))
        }
    }

    @Test func aWrongSignatureCostsAsMuchForPasskeysThatExistAsForOthers() throws {
        try Self.onDisk { fixture in
            let (known, unknown) = (try TestPasskey(), try TestPasskey())
            try fixture.register(known)
            for _ in 0..<15 { try fixture.register(TestPasskey(), "bob") }
            let forged = { (passkey: TestPasskey) throws -> PasskeyAssertionResponse in
                try passkey.sign(fixture.service.passkeyChallenge())
                    .with(signature: SignedProof.forgedSignature, userHandle: nil)
            }
            let area = try Self.compare(
                CLOCK_THREAD_CPUTIME_ID, [{ try forged(known) }, { try forged(unknown) }]
            ) { response in
                #expect(throws: RelyingPartyError.self) { try fixture.service.signIn(response) }
            }
            print("wrong signature, known and unknown passkey: area \(area)")
            #expect(Self.bounds.contains(area))
        }
    }
}

/// The same numbers in each run (Knuth, "The Art of Computer Programming", volume 2, section 3.3.4, MMIX).
private struct Congruential: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        // The lower bits have short periods.
        return state >> 32
    }
}

extension SignedProof {
    /// A signature that is well-formed and wrong.
    fileprivate static let forgedSignature: [UInt8] =
        [0x30, 0x44, 0x02, 0x20] + [UInt8](repeating: 0x11, count: 32) + [0x02, 0x20]
        + [UInt8](repeating: 0x12, count: 32)

    /// The same with such a signature.
    fileprivate var forged: SignedProof {
        SignedProof(user: user, key: key, challenge: challenge, signature: Self.forgedSignature)
    }
}
