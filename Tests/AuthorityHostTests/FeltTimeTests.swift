// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SeamStandIns
import SimulatedDriver
import TestSupport
import Testing

@testable import AuthorityDaemon

/// What a person waits for with a chip behind the kernel's resource manager, by phase: before the touch or the passcode
/// the prompt is up, and after the reply nobody waits.
@Suite(.needs(.softwareTPM)) struct FeltTimeTests {
    private let machine: TwoServices
    private let power: SwitchedTPM
    private let tpm: ManagedTPM
    private let digest = [UInt8](repeating: 0xa5, count: 32)

    init() throws {
        power = try SwitchedTPM()
        tpm = ManagedTPM(power.path)
        machine = try TwoServices(tpm: power, place: tpm)
        #expect(machine.setPasscode("abcdef") == [.done])
    }

    private struct Phases {
        let before, felt, after: [ManagedTPM.Entry]
        /// What is felt, as hexadecimal numbers of the commands; those of the manager are marked.
        var text: String {
            felt.map { ($0.isOfManager ? "m" : "") + String($0.number, radix: 16) }.joined(separator: " ")
        }

        /// Checks the number of commands that are felt, and the milliseconds that a published firmware TPM takes for
        /// them.
        func expect(felt count: Int, milliseconds: Int, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(felt.count == count, "\(text)", sourceLocation: sourceLocation)
            #expect(felt.milliseconds == milliseconds, "\(text)", sourceLocation: sourceLocation)
        }
    }

    private func makeKey(_ constraints: AccessConstraints) throws -> EnclaveKey {
        let request = Request.CreateEnclaveKey(
            attributes: [.label: .text("\(constraints.rawValue)")],
            accessControl: AccessControl(
                accessibility: .whenUnlockedThisDeviceOnly, constraints: constraints.union(.privateKeyUsage)),
            isPermanent: true, authentication: Authentication())
        let reply = machine.answers(machine.session(), .createEnclaveKey(request))().last
        guard case .enclaveKey(let key)? = reply else { throw UnexpectedReply(reply: reply) }
        return key
    }

    /// Signs, and has the person answer the prompt.
    private func sign(_ key: EnclaveKey, _ answer: () throws -> Void) throws -> Phases {
        _ = tpm.takeEntries()
        let request = Request.UseEnclaveKey(
            name: key.name, operation: .sign(digest: digest), authentication: Authentication())
        let replies = machine.answers(machine.session(), .useEnclaveKey(request))
        let before = tpm.takeEntries()
        try answer()
        let felt = tpm.takeEntries()
        #expect(try key.verify(replies().last, digest) == nil)
        return Phases(before: before, felt: felt, after: tpm.takeEntries())
    }

    private func touch() throws { _ = try machine.world.apply(.touch(matching: true)) }

    private func type() { machine.world.perform(.passcode(SecretBytes("abcdef".utf8))) }

    @Test func aFinger() throws {
        let key = try makeKey(.biometryAny)
        try sign(key, touch).expect(felt: 30, milliseconds: 1570)
        try sign(key, touch).expect(felt: 18, milliseconds: 630)
        // What is cached for the next use is removed after a minute.
        machine.clock.advance(seconds: 61)
        try sign(key, touch).expect(felt: 30, milliseconds: 1570)
    }

    @Test func aPasscode() throws {
        let key = try makeKey(.devicePasscode)
        try sign(key, type).expect(felt: 64, milliseconds: 3190)
        try sign(key, type).expect(felt: 70, milliseconds: 3370)
        machine.clock.advance(seconds: 61)
        try sign(key, type).expect(felt: 61, milliseconds: 3100)
    }
}
