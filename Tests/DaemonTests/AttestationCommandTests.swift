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

    /// The relying party trusts the certificate of the maker, and the device is labelled as what it is.
    @Test(.needs(.softwareTPMMaker)) func aDeviceOfATrustedMakerIsEnrolled() throws {
        let maker = try SwtpmMaker()
        let tpm = try SoftwareTPM { folder in try maker.makeState(in: folder) }
        let daemon = try TestDaemon()
        try daemon.write("tier = simulated\nenclave = tpm\ntpm = \(tpm.path)\n", to: "latchkeyd.conf")
        func run(_ arguments: String...) throws -> Finished {
            let done = try daemon.run("latchkey", arguments)
            #expect(done.exitCode == 0, "\(arguments): \(done.errors)")
            return done
        }
        func file(_ name: String) -> String { daemon.folder + "/" + name }
        _ = try run("sim", "start", "--ready")
        _ = try run("sim", "touch")
        _ = try run("key", "enroll", "example.com", "--output", file("request"))
        let refused = try daemon.run(
            "latchkey", ["proof", "challenge", file("request"), "--state", file("state"), "--known", zeros, "--hex"])
        #expect(refused.exitCode == 1 && refused.errors.contains("not trusted"), "\(refused.errors)")
        _ = try run(
            "proof", "challenge", file("request"), "--root", maker.issuerFile, "--state", file("state"), "--output",
            file("challenge"))
        _ = try run("key", "answer", "example.com", file("challenge"), "--output", file("answer"))
        let accepted = try run("proof", "accept", file("answer"), "--state", file("state"), "--json")
        #expect(accepted.output.contains("\"kind\":\"virtual\""), "\(accepted.output)")
    }

    private let zeros = String(repeating: "0", count: 68)

    /// An app uses `DeviceAttestation`, and the relying party `DeviceProof`.
    @Test func anAppProvesItsKey() throws {
        for arguments in [["sim", "start", "--ready"], ["key", "create", "k", "--enclave"], ["sim", "touch"]] {
            let done = try daemon.run("latchkey", arguments)
            #expect(done.exitCode == 0, "\(done.errors)")
        }
        let nonce = [UInt8](repeating: 0x4e, count: 32)
        let request = try ask("enroll")
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
