// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

/// What a use needs is in the TPM when the person has answered, and is removed if the key is not used.
@Suite(.needs(.softwareTPM)) struct TPMPreparationTests {
    private static let (objects, sessions) = (0x80 as UInt32, 0x02 as UInt32)
    private let clock = VirtualClock()
    private let machine: TPMUnderTest
    private let key: ModuleKey
    private var tpm: ProxiedTPM { machine.tpm }
    private var module: TPMEnclave { machine.module }

    init() throws {
        machine = try TPMUnderTest(chipClock: clock, moduleClock: clock)
        key = try machine.module.newKey()
        machine.chip.release()
        tpm.inject(nil)
    }

    private func held() throws -> [Int] { try [Self.objects, Self.sessions].map { try tpm.handles($0).count } }

    @Test func aPreparedUseTakesTheApprovalAndTheCommand() throws {
        try module.prepare(key.blob)
        #expect(try held() == [2, 1])
        tpm.inject(nil)
        try machine.use(key)
        #expect(tpm.commandNumbers == [TPMCommand.policySigned, .sign].map(\.rawValue))
        module.endPreparation(isUsed: true)
        // Cached for the next use, as without a preparation.
        #expect(try held() == [2, 1])
        try machine.expectNothingHeld()
    }

    @Test func whatIsNotUsedIsRemovedWithTheLastPreparation() throws {
        try module.prepare(key.blob)
        try module.prepare(key.blob)
        module.endPreparation(isUsed: false)
        #expect(try held() == [2, 1])
        module.endPreparation(isUsed: false)
        #expect(try held() == [0, 0])
        // One end too many is not counted.
        module.endPreparation(isUsed: false)
        try module.prepare(key.blob)
        #expect(try held() == [2, 1])
    }

    /// A TPM without room for an object or a session gets nothing, and a use afterwards has the order of one that was not
    /// prepared.
    @Test(arguments: [0x902, 0x903] as [UInt32]) func withoutRoomNothingIsPrepared(_ code: UInt32) throws {
        let command: TPMCommand = code == 0x902 ? .loadExternal : .startAuthSession
        tpm.inject { frame, _ in
            frame[6..<10].reduce(0) { $0 << 8 | UInt32($1) } == command.rawValue ? .refuses(code) : nil
        }
        #expect(status { try module.prepare(key.blob) } != nil)
        tpm.inject(nil)
        #expect(try held() == [0, 0])
        try machine.use(key)
        try machine.expectNothingHeld()
    }

    /// Longer than an approval, and longer than what is cached for the next use.
    @Test func theSessionIsUsableForAsLongAsAPromptIsShown() throws {
        try module.prepare(key.blob)
        for _ in 1...11 {
            clock.advance(seconds: 15)
            #expect(try held() == [2, 1])
        }
        tpm.inject(nil)
        try machine.use(key)
        #expect(tpm.commandNumbers == [TPMCommand.policySigned, .sign].map(\.rawValue))
        module.endPreparation(isUsed: true)
    }

    @Test func aPreparationWhoseEndIsNeverReportedEndsByItself() throws {
        try module.prepare(key.blob)
        for _ in 1...13 { clock.advance(seconds: 15) }
        #expect(try held() == [0, 0])
        module.endPreparation(isUsed: false)
        try machine.use(key)
        try machine.expectNothingHeld()
    }

    /// Another program has removed the session and the keys: the renewal fails, and the use begins again.
    @Test func whatAnotherProgramRemovesIsMadeAgain() throws {
        try module.prepare(key.blob)
        for kind in [Self.objects, Self.sessions] { try tpm.flush(kind) }
        clock.advance(seconds: 15)
        try machine.use(key)
        module.endPreparation(isUsed: true)
        try machine.expectNothingHeld()
    }
}
