// SPDX-License-Identifier: Apache-2.0

import DeviceProof
import Foundation
import LatchkeyModel
import TPMProtocol
import TestSupport
import Testing

/// Messages that a software TPM once made are still read: the bytes of the format do not change.
@Suite struct CorpusTests {
    private let nonce = [UInt8](repeating: 9, count: 32)

    private func input(_ name: String) throws -> [UInt8] { try Repository.input(name, of: "proof") }

    /// Whether the bytes are a message of that type in its one encoding.
    private func isOne<Message: AttestationMessage>(_ type: Message.Type, _ bytes: [UInt8]) throws -> Bool {
        let message: Message
        do throws(Failure) { message = try Message(decoding: bytes) } catch { return false }
        return try message.encoded() == bytes
    }

    @Test func eachMessageIsOfOneKindAndHasOneEncoding() throws {
        for (name, bytes) in try Repository.inputs("proof") {
            let kinds = [
                try isOne(EnrolmentRequest.self, bytes), try isOne(EnrolmentChallenge.self, bytes),
                try isOne(EnrolmentAnswer.self, bytes), try isOne(KeyProof.self, bytes),
            ]
            #expect(kinds.count(where: \.self) == 1, "\(name)")
            #expect(kinds.firstIndex(of: true) == Int(bytes[1]) - 1, "\(name)")
        }
    }

    @Test func recordedProofsAreAccepted() throws {
        let request = try EnrolmentRequest(decoding: input("request"))
        let device = EnrolledDevice(attestationKey: request.attestationKey, kind: .virtual)
        for (name, needsPassword) in [("proof", false), ("proof-password", true)] {
            let proof = try input(name)
            let area = try TPMPublicArea(decoding: KeyProof(decoding: proof).key)
            let point = try #require(area.point).external
            let proven = try Verifier(roots: []).verify(proof, of: point, nonce: nonce, by: device)
            #expect(proven.userVerificationClaimed.requiresApplicationPassword == needsPassword)
        }
    }

    @Test func theDocumentListsTheErrorCodeOfEachCheck() throws {
        let page = try String(contentsOf: Repository.document("reference", "device-proof.md"), encoding: .utf8)
        let general: [DeviceProofError.Code] = [.malformed, .invalidParameter, .internalFailure]
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.joined()
        for code in DeviceProofError.Code.allCases where !general.contains(code) {
            #expect(rows.contains("`\(code)`"), "\(code)")
        }
    }

    @Test func recordedRequestsHaveTheTemplatesOfTheTCG() throws {
        for (name, template) in [("request", EndorsementKey.Template.p256), ("request-rsa", .rsa2048)] {
            let request = try EnrolmentRequest(decoding: input(name))
            #expect(try EndorsementKey(decoding: request.endorsementKey).template == template)
            #expect(request.certificates.count == 1)
        }
        // The policy of the templates L, as the TCG prints it.
        let policy = try PolicyDigest().secret(of: TPMName.of(.endorsement))
        #expect(try policy.bytes == hex("837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa"))
    }
}
