// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import Synchronization
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

/// The key and the session of a begun use stay in the TPM while commands are carried, and are removed when the TPM has no
/// room: a TPM without a resource manager has three places for objects and three for sessions.
@Suite(.needs(.softwareTPM)) struct TPMRoomTests {
    private static let (objects, loaded, saved) = (0x80 as UInt32, 0x02 as UInt32, 0x03 as UInt32)
    private let machine: TPMUnderTest
    private let keys: TPMPasscodeKeys
    private var tpm: ProxiedTPM { machine.tpm }

    init() throws {
        machine = try TPMUnderTest()
        keys = TPMPasscodeKeys(machine.chip)
    }

    private func usedKey(_ part: PasscodeDemand.Part = .alone) throws -> (key: ModuleKey, record: [UInt8]) {
        let made = try keys.make(part)
        try keys.use(made.key, made.record, isSigned: part == .both)
        tpm.inject(nil)
        return made
    }

    /// Begins a session of another program (`TPM2_StartAuthSession` without a salt).
    private func startOtherSession() throws {
        var parameters = TPMWriter()
        try parameters.add(sized: [UInt8](repeating: 3, count: 16))
        try parameters.add(sized: [])
        // A policy session without encryption of parameters, SHA-256.
        parameters.add([1, 0, 0x10, 0, 0x0b] as [UInt8])
        _ = try tpm.send(0x176, handles: [.none, .none], parameters.bytes)
    }

    private func count(_ command: TPMCommand) -> Int { tpm.commandNumbers.count { $0 == command.rawValue } }

    // MARK: - Room for everything

    @Test func aRepeatedUseByPasscodeNeedsThreeCommands() throws {
        let (key, record) = try usedKey()
        try keys.use(key, record)
        #expect(
            tpm.commandNumbers
                == [TPMCommand.startAuthSession, .policySecret, .sign].map(\.rawValue))
        try machine.expectNothingHeld()
    }

    @Test func manyUsesByPasscodeLeaveNothingInTheTPM() throws {
        let made = try [usedKey(), usedKey(.both), usedKey(.either)]
        for round in 0..<60 { try keys.use(made[round % 3].key, made[round % 3].record, isSigned: round % 3 == 1) }
        #expect(try tpm.handles(Self.objects).count <= 2 && tpm.handles(Self.loaded).count <= 1)
        #expect(try tpm.handles(Self.saved).isEmpty)
        try machine.expectNothingHeld()
    }

    /// The commands of a passcode's verification find the places of what is cached free.
    @Test func withoutABegunUseNothingIsKeptWhileCommandsAreCarried() throws {
        let (key, record) = try usedKey()
        #expect(try !tpm.handles(Self.objects).isEmpty && !tpm.handles(Self.loaded).isEmpty)
        _ = try keys.passcodes.open(record, TPMPasscodeKeys.value)
        for kind in [Self.objects, Self.loaded, Self.saved] { #expect(try tpm.handles(kind).isEmpty, "kind \(kind)") }
        let challenge = try keys.begin(key)
        tpm.inject(nil)
        _ = try keys.passcodes.open(record, TPMPasscodeKeys.value)
        #expect(tpm.commandCount == 12, "a right passcode, after the count was read")
        #expect(try tpm.handles(Self.loaded) == [challenge.session])
        #expect(try keys.isProven(challenge, record))
        try keys.finish(challenge, isSigned: false)
        try machine.expectNothingHeld()
    }

    // MARK: - No room

    /// The storage root key, for which a session is salted, needs a place for the time of the command.
    @Test func aCarriedCommandFindsRoomWhereTheKeysAreKept() throws {
        let (key, record) = try usedKey(.both)
        let challenge = try keys.begin(key)
        #expect(try tpm.handles(Self.objects).count == 2)
        try machine.loadOtherObject()
        tpm.inject(nil)
        #expect(try keys.isProven(challenge, record))
        #expect(count(.startAuthSession) == 2 && count(.flushContext) == 2)
        #expect(try tpm.handles(Self.objects).count == 1, "the other program's")
        try keys.finish(challenge, isSigned: true)
        try tpm.flush(Self.objects)
        try keys.use(key, record, isSigned: true)
        try machine.expectNothingHeld()
    }

    /// The session of an earlier use is cached, that of another begun use is saved: it is loaded for the proof.
    @Test func aSavedSessionFindsRoomWhereOneIsKeptForTheNextUse() throws {
        let (key, record) = try usedKey()
        let (first, second) = (try keys.begin(key), try keys.begin(key))
        #expect(try keys.isProven(second, record))
        try keys.finish(second, isSigned: false)
        try startOtherSession()
        #expect(try tpm.handles(Self.loaded).count == 2 && tpm.handles(Self.saved).count == 1)
        tpm.inject(nil)
        #expect(try keys.isProven(first, record))
        #expect(count(.startAuthSession) == 1 && count(.policySecret) == 1)
        #expect(count(.contextLoad) == 2 && count(.flushContext) == 1)
        try keys.finish(first, isSigned: false)
        try tpm.flush(Self.loaded)
        try machine.expectNothingHeld()
    }

    /// The verification of a passcode needs two sessions: that of the begun use is saved, and loaded again to be finished.
    @Test func aCarriedCommandFindsRoomWhereTheSessionOfABegunUseIs() throws {
        let (key, record) = try usedKey()
        let challenge = try keys.begin(key)
        #expect(try keys.isProven(challenge, record))
        try startOtherSession()
        #expect(try keys.passcodes.open(record, SecretBytes([])) == nil)
        #expect(try tpm.handles(Self.saved).count == 1)
        try tpm.flush(Self.loaded)
        try keys.finish(challenge, isSigned: false)
        try machine.expectNothingHeld()
    }

    /// Two of three sessions belong to another program; a proof needs two. It is reported, and works afterwards.
    @Test func aTPMThatOthersHaveFilledIsReported() throws {
        let (key, record) = try usedKey()
        let challenge = try keys.begin(key)
        for _ in 0..<2 { try startOtherSession() }
        tpm.inject(nil)
        #expect(status { _ = try keys.isProven(challenge, record) } == .vaultUnavailable)
        #expect(count(.startAuthSession) == 2 && count(.policySecret) == 0)
        try tpm.flush(Self.loaded)
        #expect(try keys.isProven(challenge, record))
        try keys.finish(challenge, isSigned: false)
        try machine.expectNothingHeld()
    }

    /// A TPM that says each time that there is no room for a command gets it twice; once if nothing is cached that
    /// could make room, as for a session when the command names the only one.
    @Test(
        arguments: [0x902, 0x903, 0x904, 0x905, 0x906] as [UInt32],
        [TPMCommand.startAuthSession, .policySecret, .sign])
    func aCommandWithoutRoomIsSentOnceMore(_ code: UInt32, _ command: TPMCommand) throws {
        let (key, record) = try usedKey(.both)
        let number = Self.bytes(of: command)
        let challenge = try keys.begin(key)
        tpm.inject { frame, _ in frame[6..<10].elementsEqual(number) ? .refuses(code) : nil }
        let failure = status {
            #expect(try keys.isProven(challenge, record))
            try keys.finish(challenge, isSigned: true)
        }
        #expect(failure != nil)
        let hasNothingToRemove = [0x903, 0x905].contains(code) && command != .startAuthSession
        #expect(count(command) == (hasNothingToRemove ? 1 : 2))
        tpm.inject(nil)
        keys.module.abandon(challenge.use)
        try keys.use(key, record, isSigned: true)
        try machine.expectNothingHeld()
    }

    /// Refused once, the same bytes are sent again, and the use succeeds.
    @Test(
        arguments: [0x902, 0x903] as [UInt32], [TPMCommand.startAuthSession, .policySecret, .policySigned, .sign])
    func theSameBytesAreSentAgain(_ code: UInt32, _ command: TPMCommand) throws {
        let (key, record) = try usedKey(.both)
        let number = Self.bytes(of: command)
        // The proof loads the session of the first use, so that a session is cached besides the one that is named.
        let (first, second) = (try keys.begin(key), try keys.begin(key))
        #expect(try keys.isProven(first, record))
        let refused = FirstFrame()
        tpm.inject { frame, _ in
            frame[6..<10].elementsEqual(number) && refused.isFirst(frame) ? .refuses(code) : nil
        }
        #expect(try keys.isProven(second, record))
        try keys.finish(second, isSigned: true)
        #expect(tpm.traffic.filter { $0[6..<10].elementsEqual(number) } == [refused.frame, refused.frame])
        try keys.finish(first, isSigned: true)
        try machine.expectNothingHeld()
    }

    private static func bytes(of command: TPMCommand) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(command.rawValue)
        return writer.bytes
    }

    // MARK: - The storage root key

    @Test func aStorageRootKeyThatWasEvictedIsFoundAgainForAProof() throws {
        let (key, record) = try usedKey()
        try machine.evict(0x8100_0001)
        try keys.use(key, record)
        tpm.inject(nil)
        try keys.use(key, record)
        #expect(count(.readPublic) == 0)
    }

    /// The salt is encrypted for the pinned key and not for the one at its handle: the TPM computes another session key. The
    /// proof is refused, nothing is used, and the pinned key is found by the next one.
    @Test func anotherKeyAtTheHandleOfThePinnedOneGetsNoProof() throws {
        let (key, record) = try usedKey()
        try machine.evict(0x8100_0001)
        try machine.persist(at: 0x8100_0001, attributes: 0x0003_0072)
        let challenge = try keys.begin(key)
        #expect(try !keys.isProven(challenge, record))
        #expect(status { try keys.finish(challenge, isSigned: false) } == .itemAuthenticationFailed)
        #expect(try keys.isProven(keys.begin(key), record))
        #expect(try tpm.handles(0x81) == [0x8100_0001, 0x8100_4c4b])
        #expect(try keys.passcodes.open(record, TPMPasscodeKeys.value) != nil)
    }
}

/// Remembers the first frame that it was asked about.
private final class FirstFrame: Sendable {
    private let content = Mutex<[UInt8]?>(nil)
    var frame: [UInt8]? { content.withLock { $0 } }
    func isFirst(_ frame: [UInt8]) -> Bool {
        content.withLock { content in
            guard content == nil else { return false }
            content = frame
            return true
        }
    }
}
