// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

/// What a use needs is flushed by another program: objects are loaded again without another approval, and the end of a
/// session fails the one use that it belongs to.
@Suite(.needs(.softwareTPM)) struct TPMFlushedTests {
    private static let (objects, loaded, saved) = (0x80 as UInt32, 0x02 as UInt32, 0x03 as UInt32)
    private let machine: TPMUnderTest
    private var tpm: ProxiedTPM { machine.tpm }
    private var chip: TPMChip { machine.chip }
    private var module: TPMEnclave { machine.module }

    init() throws { machine = try TPMUnderTest() }

    private func usedKey() throws -> ModuleKey {
        let key = try module.newKey()
        try machine.use(key)
        return key
    }

    /// `PolicySigned` is the first command of a use and `Sign` the second one.
    @Test(arguments: [0, 1]) func keyAndAuthorityAreLoadedAgainForTheSameApproval(_ command: Int) throws {
        let key = try usedKey()
        tpm.inject { _, number in number == command ? .follows(flushOf: [Self.objects]) : nil }
        try machine.use(key)
        #expect(tpm.commandNumbers.count { $0 == TPMCommand.sign.rawValue } <= 2)
        // The authority is loaded again by the next use, after which a use needs no other commands than before.
        tpm.inject(nil)
        try machine.use(key)
        tpm.inject(nil)
        try machine.use(key)
        #expect(tpm.commandCount == 2)
        try machine.expectNothingHeld()
    }

    /// An object that is flushed before each command is loaded once more and not without end.
    @Test func keyThatIsAlwaysFlushedIsReported() throws {
        let key = try usedKey()
        tpm.inject { command, _ in
            command[6..<10].elementsEqual([0, 0, 1, 0x5d]) ? .follows(flushOf: [Self.objects]) : nil
        }
        #expect(status { try machine.use(key) } == .timedOut)
        #expect(tpm.commandNumbers.count { $0 == TPMCommand.sign.rawValue } == 2)
        tpm.inject(nil)
        try machine.use(key)
        try machine.expectNothingHeld()
    }

    /// Another program's object has the handle of the key now.
    @Test func objectAtTheHandleOfTheKeyFailsOneUseOnly() throws {
        let key = try usedKey()
        let expected = try tpm.handles(Self.objects)
        try tpm.flush(Self.objects)
        for _ in 0..<3 { try machine.loadOtherObject() }
        try tpm.flush(Self.objects) { !expected.contains($0) }
        #expect(try tpm.handles(Self.objects) == expected)
        #expect(status { try machine.use(key) } != nil)
        try machine.use(key)
    }

    /// The session is gone at each command of a use. An approval is for one session, so that the use cannot go on.
    @Test(arguments: [0, 1]) func flushedSessionFailsOneUseByName(_ command: Int) throws {
        let key = try usedKey()
        tpm.inject { _, number in number == command ? .follows(flushOf: [Self.loaded]) : nil }
        #expect(status { try machine.use(key) } == .timedOut)
        tpm.inject(nil)
        try machine.use(key)
        try machine.expectNothingHeld()
    }

    /// The sessions of begun uses, all but the latest of which are saved, do not hinder other uses when they are gone.
    @Test(arguments: [0, 1, 2]) func flushedSessionOfABegunUseDoesNotHinderOthers(_ begun: Int) throws {
        let key = try usedKey()
        let challenges = try (0..<begun).map { _ in try module.begin(key.blob, TPMUnderTest.operation) }
        try tpm.flush(Self.loaded)
        try tpm.flush(Self.saved)
        if begun == 0 {
            #expect(status { try machine.use(key) } == .timedOut)
        }
        try machine.use(key)
        // A command of latchkey-authd is carried as well.
        _ = try chip.carry([0x80, 1, 0, 0, 0, 12, 0, 0, 1, 0x7b, 0, 16], for: .passcode)
        for challenge in challenges { #expect(status { try machine.finish(challenge) } == .timedOut) }
        try machine.use(key)
        try machine.expectNothingHeld()
    }

    /// A TPM behind a socket retains what a process leaves in it.
    @Test func closingRemovesTheSessionsOfBegunUses() throws {
        let key = try usedKey()
        // The session of the first use is saved when the second one begins.
        let challenges = try (0..<2).map { _ in try module.begin(key.blob, TPMUnderTest.operation) }
        #expect(try tpm.handles(Self.loaded).isEmpty == false && tpm.handles(Self.saved).isEmpty == false)
        chip.close()
        for kind in [Self.objects, Self.loaded, Self.saved] { #expect(try tpm.handles(kind).isEmpty, "kind \(kind)") }
        for challenge in challenges { #expect(status { try machine.finish(challenge) } == .timedOut) }
        try machine.use(key)
        try machine.expectNothingHeld()
    }

    /// The storage root key was removed from its handle: it is made again for whatever is done next.
    @Test func evictedStorageRootKeyIsMadeAgainAtOnce() throws {
        let key = try usedKey()
        for _ in 0..<2 {
            try machine.evict(0x8100_0001)
            try machine.use(module.newKey())
            try machine.evict(0x8100_0001)
            try tpm.flush(Self.objects)
            try machine.use(key)
            try machine.evict(0x8100_0001)
            _ = try module.newAttestationKey()
        }
        #expect(try tpm.handles(0x81) == [0x8100_0001])
        try machine.expectNothingHeld()
    }
}
