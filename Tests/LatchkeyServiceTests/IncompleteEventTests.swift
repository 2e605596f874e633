// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyKeychain
@testable import LatchkeyService

/// The last write of an event of the passcode fails: the event has happened, and the authority applies it.
@Suite struct IncompleteEventTests {
    private let machine: SimulatedService
    private let disk: FullVault

    init() throws {
        var vault: FullVault?
        machine = try SimulatedService(wrapping: { inner in
            let full = FullVault(inner)
            vault = full
            return full
        })
        disk = try #require(vault)
    }

    private func answers(_ request: Request) -> () -> [Reply] {
        InterruptedService.answers(machine.session(), request)
    }

    private func status(_ replies: [Reply]) -> Status? {
        guard replies.count == 1, case .failure(let failure) = replies[0] else { return nil }
        return failure.status
    }

    private func enter(_ passcode: String) { machine.world.perform(.passcode(SecretBytes(passcode.utf8))) }

    private func saysPasscodeIsSet() throws -> Bool {
        guard case .status(let report)? = answers(.status)().last else { throw Failure(.internalFailure) }
        return report.isPasscodeSet
    }

    private func set() { #expect(answers(.passcode(.set(SecretBytes("1234".utf8))))() == [.done]) }

    @Test func aPasscodeIsSetAndKnown() throws {
        disk.fill(after: 1)
        guard case .failure(let failure)? = answers(.passcode(.set(SecretBytes("1234".utf8))))().last else {
            throw Failure(.internalFailure)
        }
        #expect(failure.status == .diskFull)
        #expect(failure.message.description.hasPrefix("The change was made, but its last step failed: "))
        #expect(machine.keychain.isPasscodeSet)
        #expect(try saysPasscodeIsSet())
        disk.empty()
        #expect(status(answers(.passcode(.set(SecretBytes("5678".utf8))))()) == .notPermitted)
        let removal = answers(.passcode(.remove))
        enter("1234")
        #expect(removal() == [.done])
    }

    @Test func aPasscodeIsChangedAndTheEarlierOneIsNone() throws {
        set()
        let change = answers(.passcode(.change(SecretBytes("5678".utf8))))
        disk.fill(after: 1)
        enter("1234")
        #expect(status(change()) == .diskFull)
        disk.empty()
        let removal = answers(.passcode(.remove))
        enter("1234")
        #expect(removal().isEmpty)
        enter("5678")
        #expect(removal() == [.done])
    }

    @Test(arguments: [Request.passcode(.remove), .discardProtected, .discardForgotten])
    func aPasscodeIsRemovedAndItsKeyIsNotInMemory(_ way: Request) throws {
        set()
        #expect(machine.keychain.tree.holdsPasscodeKey)
        disk.fill(after: 1)
        let removal = answers(way)
        enter("1234")
        #expect(status(removal()) == .diskFull)
        #expect(try !machine.keychain.isPasscodeSet && !saysPasscodeIsSet())
        #expect(!machine.keychain.tree.holdsPasscodeKey)
        disk.empty()
        set()
    }

    /// Another event, of the sensor, happens while a removal begins; the removal itself has not happened.
    @Test func anEventThatFailsBecauseAnEarlierOneIsIncompleteHasNotHappened() throws {
        set()
        let removal = answers(.passcode(.remove))
        disk.fill(after: 1)
        _ = try machine.world.apply(.replaceFinger)
        #expect(throws: Failure.self) { _ = try machine.keychain.apply(EnrolmentSet([7])) }
        disk.fill()
        enter("1234")
        #expect(status(removal()) == .diskFull)
        #expect(try machine.keychain.isPasscodeSet && saysPasscodeIsSet())
        disk.empty()
        let again = answers(.passcode(.remove))
        enter("1234")
        #expect(again() == [.done])
    }

    /// Without the first write nothing has happened.
    @Test func anEventWhoseFirstWriteFailsHasNotHappened() throws {
        disk.fill()
        #expect(status(answers(.passcode(.set(SecretBytes("1234".utf8))))()) == .diskFull)
        #expect(try !machine.keychain.isPasscodeSet && !saysPasscodeIsSet())
        disk.empty()
        set()
        disk.fill()
        let removal = answers(.passcode(.remove))
        enter("1234")
        #expect(status(removal()) == .diskFull)
        #expect(try machine.keychain.isPasscodeSet && saysPasscodeIsSet())
    }
}
