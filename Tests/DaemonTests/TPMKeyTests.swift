// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import TPMDriver
import TestSupport
import Testing

/// Private keys in a software TPM, used through the real daemon and the command.
@Suite(.needs(.softwareTPM)) struct TPMKeyTests {
    private let tpm: SoftwareTPM
    private let daemon: TestDaemon

    init() throws {
        tpm = try SoftwareTPM()
        daemon = try TestDaemon()
        try configure(tpm)
    }

    private func configure(_ tpm: SoftwareTPM, tier: String = "simulated", enclave: String = "tpm") throws {
        try daemon.write("tier = \(tier)\nenclave = \(enclave)\ntpm = \(tpm.path)\n", to: "latchkeyd.conf")
    }

    @discardableResult
    private func latchkey(
        _ arguments: String..., input: String = "", exitCode: CInt = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Finished {
        let finished = try daemon.run("latchkey", arguments, input: input)
        #expect(finished.exitCode == exitCode, "\(arguments): \(finished.errors)", sourceLocation: sourceLocation)
        return finished
    }

    private func endDaemon() throws {
        let process = try #require(try daemon.process)
        kill(process, SIGKILL)
    }

    /// Signs with a key and verifies the signature; the finger touches first if `touches`.
    private func signs(_ name: String, touches: Bool = false) throws {
        if touches { try latchkey("sim", "touch") }
        let signature = try latchkey("key", "sign", name, "--hex", input: "a message").output
        try daemon.write(signature, to: "signature")
        try latchkey("key", "verify", name, "--hex", "--signature", daemon.folder + "/signature", input: "a message")
    }

    @Test func keysAreMadeInTheTPMAndUsedAfterATouch() throws {
        try latchkey("sim", "enroll")
        try latchkey("sim", "passcode", "set", input: "1234\n")
        try latchkey("key", "create", "free", "--enclave")
        try latchkey("key", "create", "finger", "--enclave", "--protect", "current-set")
        #expect(try latchkey("key", "list").output.contains("enclave (tpm)"))
        #expect(try latchkey("status").output.contains("\nenclave       TPM 2.0, virtual: "))
        try signs("free")
        try signs("finger", touches: true)
        let sealed = try latchkey("key", "encrypt", "finger", "--hex", input: "a secret").output
        try latchkey("sim", "touch")
        #expect(try latchkey("key", "decrypt", "finger", "--hex", input: sealed).output == "a secret")
        try latchkey("sim", "replace")
        try latchkey("sim", "touch")
        let refused = try latchkey("key", "sign", "finger", input: "a message", exitCode: 77)
        #expect(refused.errors.contains("no longer enrolled"), "\(refused.errors)")
    }

    @Test func keysOutliveTheDaemonAndTheStartOfTheMachine() throws {
        try latchkey("key", "create", "k", "--enclave")
        try signs("k")
        try endDaemon()
        try signs("k")
        try endDaemon()
        tpm.kill()
        let after = try SoftwareTPM(state: tpm)
        try signs("k")
        withExtendedLifetime(after) {}
    }

    @Test func daemonThatStopsLeavesNothingInTheTPM() throws {
        try latchkey("key", "create", "k", "--enclave")
        try signs("k")
        let process = try #require(try daemon.process)
        kill(process, SIGTERM)
        // The TPM answers once the daemon has ended its connection.
        let transport = try TPMPlace(tpm.path).connect()
        // Objects, loaded sessions, saved sessions.
        for kind in [0x80, 0x02, 0x03] as [UInt8] {
            // TPM2_GetCapability of TPM_CAP_HANDLES; the response ends with their number and the handles.
            let answer = try transport.exchange(
                [0x80, 1, 0, 0, 0, 22, 0, 0, 1, 0x7a, 0, 0, 0, 1, kind, 0, 0, 0, 0, 0, 0, 64])
            #expect(answer.count == 19 && answer.suffix(4) == [0, 0, 0, 0], "kind \(kind): \(answer)")
        }
    }

    @Test func keysOfAnotherTPMAreReportedAsSuch() throws {
        try latchkey("key", "create", "k", "--enclave")
        try endDaemon()
        let other = try SoftwareTPM()
        try configure(other)
        let refused = try latchkey("key", "sign", "k", input: "a message", exitCode: 1)
        #expect(refused.errors.contains("made by another TPM"), "\(refused.errors)")
        #expect(refused.errors.contains("hint: "), "\(refused.errors)")
    }

    @Test func aTPMThatEndsIsReportedAndUsedAgainWhenItIsBack() throws {
        try latchkey("key", "create", "k", "--enclave")
        tpm.kill()
        let refused = try latchkey("key", "sign", "k", input: "a message", exitCode: 1)
        #expect(refused.errors.contains("TPM"), "\(refused.errors)")
        let back = try SoftwareTPM(state: tpm)
        try signs("k")
        withExtendedLifetime(back) {}
    }

    @Test func keysOfTheSoftwareRemainUsableBesideTheTPM() throws {
        try configure(tpm, enclave: "software")
        try latchkey("key", "create", "old", "--enclave")
        try endDaemon()
        try configure(tpm)
        try latchkey("key", "create", "new", "--enclave")
        try signs("old")
        try signs("new")
        try endDaemon()
        // Without the module that made it, a key is refused by name and not lost.
        try configure(tpm, enclave: "software")
        try signs("old")
        let refused = try latchkey("key", "sign", "new", input: "a message", exitCode: 1)
        #expect(refused.errors.contains("not used now"), "\(refused.errors)")
    }

    @Test func appUsesAKeyInTheTPM() throws {
        try latchkey("key", "create", "k", "--enclave")
        let signed = try daemon.run("latchkey-test-client", ["sign", "k"])
        #expect(signed.output == "signed\n", "\(signed.errors)")
    }

    @Test(.enabled(if: access("/etc/latchkey/hardware.conf", F_OK) != 0))
    func aProgramIsNoTPMForTheUsersOwnStore() throws {
        try configure(tpm, tier: "user")
        let refused = try latchkey("key", "create", "k", "--enclave", exitCode: 1)
        #expect(refused.errors.contains("The TPM is a program"), "\(refused.errors)")
        #expect(refused.errors.contains("allow-virtual-hardware = yes"), "\(refused.errors)")
        #expect(try latchkey("key", "list", "--json").output == "[]\n")
    }
}
