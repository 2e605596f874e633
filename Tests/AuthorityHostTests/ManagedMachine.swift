// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SeamStandIns
import SimulatedDriver
import TestSupport
import Testing

@testable import AuthorityDaemon

/// Both services with a chip behind the kernel's resource manager, a passcode, and a person at the prompt.
struct ManagedMachine {
    static let digest = [UInt8](repeating: 0xa5, count: 32)
    let machine: TwoServices
    let tpm: ManagedTPM
    private let power: SwitchedTPM

    init() throws {
        power = try SwitchedTPM()
        tpm = ManagedTPM(power.path)
        machine = try TwoServices(tpm: power, place: tpm)
        #expect(machine.setPasscode("abcdef") == [.done])
    }

    /// What the TPM got in each phase of a use.
    struct Phases {
        let before, felt: [ManagedTPM.Entry]
        /// What is felt, as hexadecimal numbers of the commands; those of the manager are marked.
        var text: String {
            felt.map { ($0.isOfManager ? "m" : "") + String($0.number, radix: 16) }.joined(separator: " ")
        }

        /// Checks that the model has these figures for a signature by `finger` or by `passcode`.
        func expect(_ use: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let model = try #require(FirmwareTPM.felt(by: use), sourceLocation: sourceLocation)
            expect(felt: model.commands, milliseconds: model.milliseconds, sourceLocation: sourceLocation)
        }

        /// Checks the number of commands that are felt, and the milliseconds that a published firmware TPM takes for
        /// them.
        func expect(felt count: Int, milliseconds: Int, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(felt.count == count, "\(text)", sourceLocation: sourceLocation)
            #expect(felt.milliseconds == milliseconds, "\(text)", sourceLocation: sourceLocation)
        }
    }

    func makeKey(_ constraints: AccessConstraints) throws -> EnclaveKey {
        let request = Request.CreateEnclaveKey(
            attributes: [.label: .text("\(constraints.rawValue)")],
            accessControl: AccessControl(
                accessibility: .whenUnlockedThisDeviceOnly, constraints: constraints.union(.privateKeyUsage)),
            isPermanent: true, authentication: Authentication())
        let reply = machine.answers(machine.session(), .createEnclaveKey(request))().last
        guard case .enclaveKey(let key)? = reply else { throw UnexpectedReply(reply: reply) }
        return key
    }

    /// Asks for a signature, whose prompt is shown; returns a function that returns the replies so far.
    func ask(_ key: EnclaveKey) -> () -> [Reply] {
        let request = Request.UseEnclaveKey(
            name: key.name, operation: .sign(digest: Self.digest), authentication: Authentication())
        return machine.answers(machine.session(), .useEnclaveKey(request))
    }

    /// Signs, and has the person answer the prompt.
    func sign(_ key: EnclaveKey, _ answer: () throws -> Void) throws -> Phases {
        _ = tpm.takeEntries()
        let replies = ask(key)
        let before = tpm.takeEntries()
        try answer()
        let felt = tpm.takeEntries()
        #expect(try key.verify(replies().last, Self.digest) == nil)
        return Phases(before: before, felt: felt)
    }

    /// Turns the TPM off and on after that number of further commands.
    func restartTPM(after commands: Int) { tpm.restart(power, after: commands) }

    /// The non-volatile memory of the TPM, as swtpm stores it with each write.
    var memory: [UInt8]? {
        let folder = power.path.dropLast("/socket".count)
        return try? Descriptor.open("\(folder)/tpm2-00.permall", O_RDONLY).readAll(limit: 1 << 20)
    }

    func touch() throws { _ = try machine.world.apply(.touch(matching: true)) }

    func type(_ passcode: String) { machine.world.perform(.passcode(SecretBytes(passcode.utf8))) }

    func type() { type("abcdef") }
}
