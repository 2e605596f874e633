// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingPartyAttestation
import RelyingPartyCrypto
import Testing

@testable import RelyingParty

/// Enrolments of devices that prove where a key is. `test_attestation.py` tests the evidence itself, with a software TPM.
struct AttestationTests {
    /// A request that a software TPM made, and its certificate, which is the pinned one here.
    private let request: [UInt8]
    private let certificate: [UInt8]
    private let answer: [UInt8] = [1, 3, 0, 32] + [UInt8](repeating: 1, count: 32)

    init() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../../Tests/Fuzz/corpus/proof/request").standardized
        request = Array(try Data(contentsOf: file))
        // Kind and version, the endorsement key, the number of certificates, the certificate.
        let start = 2 + 2 + Int(request[2]) << 8 + Int(request[3]) + 1
        let count = Int(request[start]) << 8 + Int(request[start + 1])
        certificate = Array(request[(start + 2)..<(start + 2 + count)])
    }

    private func verifier(party: String = "example.com") throws -> TPMAttestation {
        try TPMAttestation(roots: [certificate], relyingPartyID: party)
    }

    private static func secret(_ first: UInt8) -> SecretBytes {
        var bytes = [UInt8](first..<first + 32)
        return SecretBytes(taking: &bytes)
    }

    /// The reason for which a sealed enrolment is refused. `enrolment` means that it was opened or not, and that the secret
    /// of the answer is a wrong one in the first case; a malformed answer tells the two apart.
    private func refusal(
        _ enrolment: [UInt8], _ verifier: TPMAttestation, user: String = "ada", masters: [SecretBytes], at now: Int64,
        answer: [UInt8]
    ) -> AttestationRefusal? {
        let evidence = AttestationEvidence(enrolment: enrolment, answer: answer, proof: [])
        do throws(AttestationRefusal) {
            _ = try verifier.verify(
                evidence, of: [], user: user, nonce: [UInt8](repeating: 0, count: 32), under: masters, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func aSealedEnrolmentIsOpenedForItsUserRelyingPartySecretAndTimeOnly() throws {
        let (verifier, master, now) = (try verifier(), Self.secret(0), Fixture.start)
        let nonce = [UInt8](repeating: 5, count: 12)
        let sealed = try verifier.begin(request, user: "ada", under: master, at: now, nonce: nonce).enrolment
        // What was opened is `malformed`, because of the answer.
        let found = { (verifier: TPMAttestation, user: String, masters: [SecretBytes], time: Int64) in
            refusal(sealed, verifier, user: user, masters: masters, at: time, answer: [])
        }
        #expect(found(verifier, "ada", [master], now) == .malformed)
        #expect(found(verifier, "ada", [master], now + 599) == .malformed)
        #expect(found(verifier, "ada", [Self.secret(1), master], now) == .malformed, "the secret before")
        #expect(found(verifier, "ada", [master], now + 600) == .enrolmentExpired)
        #expect(found(verifier, "ada", [master], now - 1) == .enrolmentExpired, "the clock was set back")
        #expect(found(verifier, "eve", [master], now) == .enrolment)
        #expect(found(verifier, "ada", [Self.secret(1)], now) == .enrolment)
        #expect(found(try self.verifier(party: "example.org"), "ada", [master], now) == .enrolment)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            let expected: AttestationRefusal = index == 0 ? .malformed : .enrolment
            #expect(refusal(changed, verifier, masters: [master], at: now, answer: []) == expected)
        }
        for count in sealed.indices {
            let cut = Array(sealed[..<count])
            #expect(
                refusal(cut, verifier, masters: [master], at: now, answer: []) == (count < 9 ? .malformed : .enrolment))
        }
        #expect(refusal(sealed, verifier, masters: [master], at: now, answer: answer) == .enrolment, "another secret")
    }

    @Test func theSealedEnrolmentDoesNotShowItsSecret() throws {
        let (verifier, master) = (try verifier(), Self.secret(0))
        let begin = { (nonce: UInt8) in
            try verifier.begin(
                request, user: "ada", under: master, at: Fixture.start, nonce: [UInt8](repeating: nonce, count: 12))
        }
        let (first, second) = (try begin(1), try begin(2))
        #expect(first.challenge != second.challenge && first.enrolment != second.enrolment)
        // The attestation key is at the end of the request, and would be seen in a form that is not encrypted.
        let key = request.suffix(32)
        #expect(Data(first.enrolment).range(of: Data(key)) == nil)
    }

    @Test func aDeviceOfAnotherMakerDoesNotEnrol() throws {
        let verifier = try TPMAttestation(roots: [], relyingPartyID: "example.com")
        #expect(throws: AttestationRefusal.untrustedDevice) {
            try verifier.begin(
                request, user: "ada", under: Self.secret(0), at: Fixture.start, nonce: [UInt8](repeating: 0, count: 12))
        }
        #expect(throws: AttestationRefusal.malformed) {
            try TPMAttestation(roots: [[1, 2, 3]], relyingPartyID: "example.com")
        }
    }

    @Test func beginningStoresNothing() throws {
        let fixture = try Fixture(verifier: verifier())
        let before = try ["keys", "codes", "users", "audit", "epochs"].map(fixture.count)
        _ = try fixture.service.beginAttestation(request, user: "unknown user")
        #expect(try ["keys", "codes", "users", "audit", "epochs"].map(fixture.count) == before)
        #expect(throws: RelyingPartyError.refused(.attestationOff)) {
            try Fixture().service.beginAttestation(request, user: "ada")
        }
    }

    @Test(arguments: DeclaredTier.allCases)
    func aDeclaredTierNeverCountsAsAProof(_ tier: DeclaredTier) {
        var policy = RelyingPartyPolicy(relyingPartyID: "example.com", minimumTier: .tpm)
        #expect(!policy.admits(.bound, tier, .none))
        #expect(policy.admits(.bound, tier, .tpm))
        #expect(!policy.admits(.bound, tier, .virtualTPM))
        policy.permitsVirtualTPM = true
        #expect(policy.admits(.bound, tier, .virtualTPM) && !policy.admits(.bound, tier, .none))
        policy.minimumTier = .file
        #expect(policy.admits(.bound, tier, .none) == (tier == .file || tier == .tpm))
    }
}
