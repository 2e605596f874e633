// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SoftwareEnclaveDriver
import SystemDriver
import Testing

@testable import LatchkeyService

/// Items that could not be sealed for a passcode when it was set are sealed when they can be.
@Suite struct LateSealingTests {
    private let events = CollectedEvents()
    private let clock = VirtualClock()
    private let machine: SimulatedService

    init() throws {
        let (events, clock) = (events, clock)
        machine = try SimulatedService(scriptsStore: true) { parts, world in
            parts.clock = clock
            parts.log = events
            parts.sessions = world
            parts.keyModule = SoftwareEnclave(clock: VirtualClock(), random: SystemRandomSource())
        }
    }

    private func add(_ account: String) throws {
        _ = try machine.keychain.add(
            Request.AddItem(
                itemClass: .genericPassword, attributes: [.account: .text(account)],
                accessControl: AccessControl(accessibility: .whenUnlocked, constraints: .devicePasscode),
                secret: SecretBytes("secret".utf8), returns: [], authentication: Authentication()),
            caller: SimulatedService.caller)
    }

    private func setPasscode() throws {
        let keychain = machine.keychain
        let stretched = try StretchedPassword(SecretBytes("1234".utf8), keychain.newPasscodeStretching())
        try keychain.setPasscode(.stretched(stretched), caller: SimulatedService.caller)
    }

    /// The first byte of each sealed secret: 1 without the passcode, 2 for the passcode
    /// (docs/reference/store-format.md).
    private func forms() throws -> [UInt8?] {
        var forms: [UInt8?] = []
        try machine.store.read { (store) throws(Failure) in
            try store.forEachRow(.all) { (row) throws(Failure) in
                forms.append(row.secret?.first)
                return true
            }
        }
        return forms
    }

    @Test func unlockingSealsItemsOfAClassThatWasLocked() throws {
        try add("item")
        _ = try machine.world.apply(.lock)
        try setPasscode()
        machine.service.sealForPasscode()
        #expect(try forms() == [1])
        _ = try machine.world.apply(.unlock(byBiometry: false))
        #expect(try forms() == [2])
    }

    @Test func theEndOfASessionsLockSealsThemToo() throws {
        try add("item")
        machine.service.applySessionLock(isLocked: true)
        try setPasscode()
        machine.service.sealForPasscode()
        #expect(try forms() == [1])
        machine.service.applySessionLock(isLocked: false)
        #expect(try forms() == [2])
    }

    /// Each attempt writes as much as the database has, so on a full disk it is not repeated each minute.
    @Test func anErasureThatAFullDiskPreventsIsTriedAgainAtTheExit() throws {
        try add("item")
        try setPasscode()
        #expect(try machine.keychain.sealForPasscode(after: .min) { _ in false } == nil)
        _ = try machine.world.apply(.fail(.diskFull))
        machine.service.sealForPasscode()
        #expect(events.entries.map(\.event) == [.oldCopiesNotErased])
        clock.advance(seconds: 600)
        #expect(machine.keychain.hasOldCopies)
        machine.service.stop()
        #expect(!machine.keychain.hasOldCopies)
    }

    @Test func aKeyOfAnotherModuleHoldsUpNothingElseAndIsLogged() throws {
        _ = try machine.keychain.addKey(
            Request.CreateEnclaveKey(
                attributes: [.label: .text("key")],
                accessControl: AccessControl(
                    accessibility: .whenUnlocked, constraints: [.devicePasscode, .privateKeyUsage]),
                isPermanent: true, authentication: Authentication()),
            blob: SecretBytes([9]), publicKey: [4], caller: SimulatedService.caller)
        try add("item")
        try setPasscode()
        machine.service.beginStoreCheck()
        #expect(try forms() == [1, 2])
        #expect(events.entries.map(\.event) == [.rowsNotSealed])
        #expect(events.entries.first?.failure?.status == .enclaveUnavailable)
    }
}
