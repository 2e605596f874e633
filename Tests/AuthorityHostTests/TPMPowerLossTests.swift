// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import TPMProtocol
import TestSupport
import Testing

@testable import AuthorityDaemon
@testable import LatchkeyKeychain

/// The TPM loses its power in the middle of a command that changes its memory, with the index of a passcode or a counter:
/// the command was sent, its response is not read, and the TPM has carried it out or not.
@Suite(.needs(.softwareTPM)) struct TPMPowerLossTests {
    private let machine: TwoServices
    private let tpm: SwitchedTPM
    private static let right: [Reply] = [.proven([.passcode])]

    init() throws {
        tpm = try SwitchedTPM()
        machine = try TwoServices(WorldState(sensor: .none), tpm: tpm, sealed: true)
    }

    private func isRecovered(_ replies: [Reply]) -> Bool {
        if case .recovered? = replies.last { true } else { false }
    }

    /// Which of these passcodes are right.
    private func valid(_ passcodes: [String], _ machine: TwoServices) -> [String] {
        passcodes.filter { passcode in
            // The longest delay after wrong ones.
            machine.clock.advance(seconds: 3600)
            return machine.enter(passcode) == Self.right
        }
    }

    /// Two wrong tries, after which the next one is not delayed.
    private func misstype() throws {
        for passcode in ["wrong", "wrong again"] { #expect(machine.enter(passcode) != Self.right) }
        #expect(machine.authority.state.passcodeFailures == 2)
    }

    /// The wrong tries that the TPM accepts until it verifies no passcode any more.
    private func triesLeft(_ machine: TwoServices) throws -> Int {
        let record = try #require(try machine.records().current)
        let verification = try #require(machine.connection).verification
        for tries in 0...20 {
            do throws(Failure) {
                #expect(try verification.open(record, SecretBytes("wrong".utf8)) == nil)
            } catch {
                #expect(error.status == .passcodeDelayed)
                return tries
            }
        }
        Issue.record("the TPM verifies more than 20 wrong passcodes")
        return 21
    }

    // MARK: - The first passcode

    /// The index is blocked from its first write until it has its value
    /// (`docs/design/decisions/025-passcode-index.md`).
    private static let provisioning: [TPMCommand] = [
        .nvDefineSpace, .nvWrite, .nvChangeAuthorization, .nvWrite, .policySecret,
    ]
    /// Before its code is shown, an index that is removed again has checked that there is room.
    private static let setting = [.nvDefineSpace, .nvUndefineSpace] + provisioning + [.nvIncrement]

    @Test(arguments: 0...setting.count, InterruptedTPM.Moment.allCases)
    func aFirstPasscodeIsCompleteOrCanBeSetAgain_abuse35(number: Int, moment: InterruptedTPM.Moment) throws {
        let shown = Mutex("")
        let cut = try PowerCut(machine, tpm).during(number, moment) { machine in
            _ = machine.setPasscode("first passcode")
            shown.withLock { $0 = machine.shownCode }
        }
        guard let (again, command) = cut else {
            #expect(number == Self.setting.count, "setting a passcode has these commands")
            return
        }
        #expect(command == Self.setting[number])
        let place = "\(command) \(number) \(moment)"
        if try again.keychain.isPasscodeSet {
            #expect(again.enter("first passcode") == Self.right, "\(place)")
            #expect(isRecovered(again.recover(shown.withLock { $0 }, "second passcode")), "\(place)")
        } else {
            #expect(!again.authority.state.isPasscodeSet, "\(place)")
            #expect(again.setPasscode("second passcode") == [.done], "\(place)")
        }
        #expect(again.enter("first passcode") != Self.right, "\(place)")
        #expect(again.enter("second passcode") == Self.right, "\(place)")
        #expect(try again.passcodeIndices() == 1, "\(place)")
        #expect(try triesLeft(again) == 20, "\(place)")
    }

    // MARK: - A change

    private static let change: [TPMCommand] = [.policySecret, .nvIncrement, .nvChangeAuthorization]

    /// The TPM has either value, and the slot that belongs to it is there.
    @Test(arguments: 0...change.count, InterruptedTPM.Moment.allCases)
    func aChangeLeavesExactlyOnePasscode_abuse35(number: Int, moment: InterruptedTPM.Moment) throws {
        let code = try machine.prepareSecret()
        let cut = try PowerCut(machine, tpm).during(number, moment) { machine in
            _ = machine.answers(machine.session(), .passcode(.changeAtPrompt))
            machine.world.perform(.passcode(SecretBytes("first passcode".utf8)))
            machine.enterNew("second passcode")
        }
        guard let (again, command) = cut else {
            #expect(number == Self.change.count, "a change has these commands")
            return
        }
        #expect(command == Self.change[number])
        let place = "\(command) \(number) \(moment)"
        let passcodes = valid(["first passcode", "second passcode"], again)
        #expect(passcodes.count == 1, "\(place): \(passcodes)")
        if command == .nvChangeAuthorization {
            #expect(passcodes == [moment == .carriedOut ? "second passcode" : "first passcode"])
        }
        #expect(try again.secret() == Array("secret".utf8), "\(place)")
        #expect(try again.keychain.anchor.slots.count == 1, "\(place)")
        #expect(isRecovered(again.recover(code, "third passcode")), "\(place)")
        #expect(again.enter("third passcode") == Self.right, "\(place)")
        #expect(try again.secret() == Array("secret".utf8), "\(place)")
        #expect(try again.passcodeIndices() == 1, "\(place)")
    }

    // MARK: - A recovery

    private static let recovery = provisioning + [.nvIncrement, .nvUndefineSpace]
    /// The place of the earlier index is needed.
    private static let fullRecovery = [.nvDefineSpace, .nvUndefineSpace] + provisioning + [.nvIncrement]

    @Test(arguments: 0...recovery.count, InterruptedTPM.Moment.allCases)
    func aRecoveryLeavesExactlyOneCodeAndOnePasscode_abuse35(number: Int, moment: InterruptedTPM.Moment) throws {
        try recover(number, moment, isFull: false)
    }

    @Test(arguments: 0...fullRecovery.count, InterruptedTPM.Moment.allCases)
    func aRecoveryInAFullTPMLeavesExactlyOneCode_abuse35(number: Int, moment: InterruptedTPM.Moment) throws {
        try recover(number, moment, isFull: true)
    }

    private func recover(_ number: Int, _ moment: InterruptedTPM.Moment, isFull: Bool) throws {
        let order = isFull ? Self.fullRecovery : Self.recovery
        let code = try machine.prepareSecret()
        try misstype()
        if isFull { try machine.fillTPM() }
        let shown = Mutex("")
        let cut = try PowerCut(machine, tpm).during(number, moment) { machine in
            _ = machine.recover(code, "second passcode")
            shown.withLock { $0 = machine.shownCode }
        }
        guard let (again, command) = cut else {
            #expect(number == order.count, "a recovery has these commands")
            return
        }
        #expect(command == order[number])
        let place = "\(command) \(number) \(moment)"
        #expect(again.authority.state.passcodeFailures == 2, "a recovery that is not complete counts no try less")
        let passcodes = valid(["first passcode", "second passcode"], again)
        // In a full TPM the index of the first passcode is removed before the second one has a place.
        #expect(isFull ? passcodes.count <= 1 : passcodes.count == 1, "\(place): \(passcodes)")
        let codes = [shown.withLock { $0 }, code].filter { !$0.isEmpty }
        let answers = codes.map { again.recover($0, "third passcode") }
        #expect(answers.filter(isRecovered).count == 1, "\(place): \(answers)")
        let now = valid(["first passcode", "second passcode", "third passcode"], again)
        #expect(now == ["third passcode"], "\(place)")
        #expect(try again.secret() == Array("secret".utf8), "\(place)")
        #expect(try again.passcodeIndices() == 1, "\(place)")
        #expect(try triesLeft(again) == 20, "\(place)")
    }

    // MARK: - The count

    /// The policy has counted the try before the TPM gets it, and the TPM counts what it has verified.
    @Test(arguments: InterruptedTPM.Moment.allCases)
    func aWrongTryThatIsInterruptedStaysCounted_abuse35(moment: InterruptedTPM.Moment) throws {
        _ = try machine.prepareSecret()
        try misstype()
        let cut = try #require(try PowerCut(machine, tpm).during(0, moment) { _ = $0.enter("another wrong one") })
        #expect(cut.command == .policySecret)
        #expect(cut.machine.authority.state.passcodeFailures == 3)
        #expect(try triesLeft(cut.machine) == (moment == .carriedOut ? 17 : 18))
    }

    /// A right passcode resets the count; a power cut gives no more tries than before.
    @Test(arguments: InterruptedTPM.Moment.allCases)
    func aRightTryThatIsInterruptedGivesNoTryBack_abuse35(moment: InterruptedTPM.Moment) throws {
        _ = try machine.prepareSecret()
        try misstype()
        let cut = try #require(try PowerCut(machine, tpm).during(0, moment) { _ = $0.enter("first passcode") })
        #expect(cut.machine.authority.state.passcodeFailures == 3)
        #expect(valid(["first passcode"], cut.machine) == ["first passcode"])
        #expect(cut.machine.authority.state.passcodeFailures == 0)
        #expect(try triesLeft(cut.machine) == 20)
    }
}
