// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import TPMDriver
import TPMProtocol
import TestPromises
import TestSupport
import Testing

/// A TPM that is busy, dies, is cleared or lies is reported, leaves nothing in its memory, and works afterwards.
@Suite(.needs(.softwareTPM)) struct TPMFaultTests {
    private let machine: TPMUnderTest
    private var tpm: ProxiedTPM { machine.tpm }
    private var chip: TPMChip { machine.chip }
    private var module: TPMEnclave { machine.module }

    init() throws { machine = try TPMUnderTest(moduleClock: VirtualClock()) }

    private func status(_ body: () throws(Failure) -> Void) -> Status? {
        do throws(Failure) {
            try body()
            return nil
        } catch {
            return error.status
        }
    }

    @Test func commandIsRepeatedWhileTheTPMIsNotReady() throws {
        let key = try module.newKey()
        for code in [0x922, 0x908, 0x90a] as [UInt32] {
            // Each command is refused twice before it is carried out.
            tpm.inject { _, number in number % 3 < 2 ? .refuses(code) : nil }
            try machine.use(key)
        }
        tpm.inject(nil)
        try machine.expectNothingHeld()
    }

    @Test func aTPMThatIsNeverReadyIsReportedAfterABoundedNumberOfTries() throws {
        let key = try module.newKey()
        tpm.inject { _, _ in .refuses(0x922) }
        #expect(status { () throws(Failure) in try machine.use(key) } == .enclaveUnavailable)
        #expect(tpm.commandCount < 200)
        tpm.inject(nil)
        try machine.use(key)
    }

    /// The connection ends at each command of making and using a key. Afterwards both work, and nothing is left.
    @Test func aTPMThatDiesAtAnyCommandWorksAgain() throws {
        let key = try module.newKey()
        try machine.use(key)
        var deaths = 0
        for command in 0..<40 {
            chip.release()
            tpm.inject { _, number in number == command ? .dies : nil }
            let failed = status { () throws(Failure) in
                _ = try module.newKey()
                try machine.use(key)
            }
            if failed != nil { deaths += 1 }
            #expect([nil, .enclaveUnavailable, .timedOut].contains(failed), "command \(command)")
            tpm.inject(nil)
            try machine.use(key)
        }
        #expect(deaths >= 6, "the commands of making and using a key")
        try machine.expectNothingHeld()
    }

    /// Responses are authenticated from the session on: none that was changed is taken for a result.
    @Test func aChangedResponseIsNeverAResult() throws {
        let key = try module.newKey()
        let expected = try #require(PublicKey(key.publicKey, type: .ellipticCurve(.p256)))
        for command in 0..<8 {
            for position in [0, 5, 9, 10, 12, 14, 20, 40] {
                tpm.inject { _, number in
                    number != command ? nil : .changes { $0.changed(at: position) }
                }
                if let signature = try? machine.use(key) {
                    let der = try #require(ECDSASignature.der(raw: signature.copyBytes(), curve: .p256))
                    #expect(expected.verifiesECDSA([UInt8](repeating: 0xa5, count: 32), der: der))
                }
                tpm.inject(nil)
                try machine.use(key)
            }
        }
        try machine.expectNothingHeld()
    }

    @Test func randomResponsesNeverTrap() throws {
        let key = try module.newKey()
        let generator = Mutex(SeededGenerator(seed: 5))
        for round in 0..<300 {
            tpm.inject { _, number in
                number != round % 7
                    ? nil
                    : .changes { response in
                        generator.withLock { generator in
                            let count = Int.random(in: 0...80, using: &generator)
                            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                            // A right header takes the parser further.
                            guard Bool.random(using: &generator) else { return noise }
                            var header = TPMWriter()
                            header.add(response.prefix(2))
                            header.add(UInt32(10 + count))
                            header.add(UInt32(0))
                            return header.bytes + noise
                        }
                    }
            }
            _ = try? machine.use(key)
        }
        tpm.inject(nil)
        try machine.use(key)
        try machine.expectNothingHeld()
    }

    @Test(.promise("tpm.bus")) func passwordsAndSharedSecretsDoNotPassTheBusInClear() throws {
        let password = SecretBytes((0..<32).map { UInt8($0) &* 7 &+ 1 })
        let peer = try PrivateKey.generate(.p256)
        tpm.inject(nil)
        let key = try module.newKey(password: password)
        let secret = try machine.use(key, .agree(point: peer.publicKey.externalRepresentation), password: password)
        for secret in [password.copyBytes(), secret.copyBytes()] {
            #expect(!tpm.traffic.contains { $0.contains(secret) })
        }
    }

    @Test func manyUsesOfSeveralKeysLeaveNothingInTheTPM() throws {
        let keys = try (0..<3).map { _ in try module.newKey() }
        for round in 0..<150 { try machine.use(keys[round % 3]) }
        #expect(try tpm.handles(0x80).count <= 2)
        try machine.expectNothingHeld()
    }

    /// A use of a cached key and session needs the approval and the command, and no more.
    @Test func aRepeatedUseNeedsTwoCommands() throws {
        let key = try module.newKey()
        try machine.use(key)
        tpm.inject(nil)
        try machine.use(key)
        #expect(tpm.commandCount == 2)
    }

    // MARK: - The storage root key

    @Test func keyOfAnotherProgramAtTheSharedHandleIsLeftAlone() throws {
        // Without noDA.
        try machine.persist(at: 0x8100_0001, attributes: 0x0003_0072)
        let key = try module.newKey()
        try machine.use(key)
        #expect(try tpm.handles(0x81) == [0x8100_0001, 0x8100_4c4b])
    }

    @Test func evictedStorageRootKeyIsMadeAgain() throws {
        let key = try module.newKey()
        try machine.evict(0x8100_0001)
        chip.release()
        try machine.use(key)
        #expect(try tpm.handles(0x81) == [0x8100_0001])
    }

    @Test func keysOfAClearedTPMAreReportedAsSuch() throws {
        let key = try module.newKey()
        try machine.use(key)
        // TPM2_Clear by the lockout hierarchy.
        _ = try tpm.send(0x126, handles: [TPMHandle(0x4000_000a)], passwords: 1)
        #expect(status { () throws(Failure) in try machine.use(key) } == .tpmReplaced)
        // Nothing is made in place of the old storage root key for a key that needs that one.
        #expect(try tpm.handles(0x81).isEmpty)
        try machine.use(try module.newKey())
        #expect(status { () throws(Failure) in try machine.use(key) } == .tpmReplaced)
    }

    @Test func passwordOfTheOwnerIsReportedByName() throws {
        var password = TPMWriter()
        try password.add(sized: [1, 2, 3])
        _ = try tpm.send(0x129, handles: [.owner], password.bytes, passwords: 1)
        let failure = #expect(throws: Failure.self) { try module.newKey() }
        #expect(failure?.status == .enclaveUnavailable && failure?.hint.contains("password") == true)
    }

    @Test func aTPMThatIsAProgramIsUsedForNewKeysOnlyIfThatIsAllowed() throws {
        let strict = TPMEnclave(chip, clock: VirtualClock(), allowsVirtual: false)
        let failure = #expect(throws: Failure.self) { try strict.newKey() }
        #expect(failure?.status == .enclaveUnavailable)
        #expect(failure?.hint.contains("allow-virtual-hardware = yes") == true)
        #expect(try chip.identity().isVirtual)
    }

    @Test func whatATPMSaysAboutItselfIsReadOnceOnEachConnection_abuse24() throws {
        #expect(module.device == nil)
        try module.findDevice()
        #expect(module.device == .program)
        tpm.inject(nil)
        try module.findDevice()
        #expect(tpm.commandCount == 0)
        tpm.inject { _, _ in .dies }
        #expect(status { () throws(Failure) in _ = try module.newKey() } != nil)
        #expect(module.device == nil)
        #expect(status { () throws(Failure) in try module.findDevice() } != nil && module.device == nil)
        tpm.inject(nil)
        try module.findDevice()
        #expect(module.device == .program)
    }

    @Test func aPlaceWithoutATPMIsReportedWithItsPath() {
        let absent = TPMChip(TPMPlace("/nonexistent/tpm"), clock: VirtualClock(), random: SystemRandomSource())
        let failure = #expect(throws: Failure.self) {
            try TPMEnclave(absent, clock: VirtualClock(), allowsVirtual: true).newKey()
        }
        #expect(failure?.status == .enclaveUnavailable)
        #expect(failure?.message.contains("/nonexistent/tpm") == true)
    }
}

extension [UInt8] {
    fileprivate func changed(at position: Int) -> [UInt8] {
        guard indices.contains(position) else { return self }
        var bytes = self
        bytes[position] ^= 0x5a
        return bytes
    }

    fileprivate func contains(_ part: [UInt8]) -> Bool {
        count >= part.count && (0...(count - part.count)).contains { Array(self[$0..<$0 + part.count]) == part }
    }
}
