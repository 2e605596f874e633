// SPDX-License-Identifier: Apache-2.0

import DeviceProof
import Foundation
import LatchkeySystem
import TestSupport
import Testing

/// Attestation through the real daemon, with a software TPM.
@Suite(.needs(.softwareTPM)) struct AttestationCommandTests {
    private let tpm: SoftwareTPM
    private let daemon: TestDaemon

    init() throws {
        tpm = try SoftwareTPM()
        daemon = try TestDaemon()
        try daemon.write("tier = simulated\nenclave = tpm\ntpm = \(tpm.path)\n", to: "latchkeyd.conf")
    }

    @Test func commandsMatchTheirScript() throws {
        let path = Files.folder(of: #filePath) + "/Scripts/attestation.txt"
        let script = TextScript(String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
        #expect(script.steps.count > 30)
        let failure = try script.run(daemon)
        #expect(failure == nil, "attestation.txt, \(failure ?? "")")
    }

    /// An app uses `DeviceAttestation`, and the relying party `DeviceProof`.
    @Test func anAppProvesItsKey() throws {
        for arguments in [["sim", "start", "--ready"], ["key", "create", "k", "--enclave"], ["sim", "touch"]] {
            let done = try daemon.run("latchkey", arguments)
            #expect(done.exitCode == 0, "\(done.errors)")
        }
        let nonce = [UInt8](repeating: 0x4e, count: 32)
        let request = try ask("enrol")
        let verifier = try Verifier(
            roots: [], knownEndorsementKeys: [Verifier.endorsementKeyName(in: request[1]): .virtual])
        let pending = try verifier.begin(request[1], at: 0)
        let answers = try ask(
            "prove", request[0], pending.challenge, nonce)
        let device = try pending.finish(answers[0])
        let proven = try verifier.verify(answers[1], of: answers[2], nonce: nonce, by: device)
        #expect(proven.keyCannotLeaveDevice == .virtual)
    }

    /// The lines that the app prints for its input lines.
    private func ask(_ verb: String, _ input: [UInt8]...) throws -> [[UInt8]] {
        let lines = input.map { Data($0).base64EncodedString() + "\n" }.joined()
        let done = try daemon.run("latchkey-test-client", ["attest", verb, "k"], input: lines)
        try #require(done.exitCode == 0, "\(done.output) \(done.errors)")
        return done.output.split(separator: "\n").compactMap { Data(base64Encoded: String($0)).map(Array.init) }
    }
}
