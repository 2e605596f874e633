// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemDriver
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

/// The counter on a TPM that other programs use, too.
@Suite(.needs(.softwareTPM)) struct TPMCounterTests {
    private let machine: TPMFixture
    private let counter: any MonotonicCounter
    private static let first = UInt32(0x0181_4c00)

    init() throws {
        machine = try TPMFixture()
        counter = try #require(try machine.make().counter)
    }

    private func failure(_ body: () throws -> Void) -> Failure? {
        do {
            try body()
            return nil
        } catch {
            return error as? Failure
        }
    }

    @Test func theNumberSurvivesAPowerCut() throws {
        let before = try counter.create()
        #expect(try counter.increment() == before + 1)
        machine.tpm.cutPower()
        #expect(status { _ = try counter.value() } == .vaultUnavailable)
        try machine.tpm.start()
        #expect(try counter.value() == before + 1, "an orderly counter would jump")
    }

    @Test func anIncrementWhoseResponseIsLostHasGrownTheNumberByOne() throws {
        let before = try counter.create()
        machine.bus.lose(responseTo: .nvIncrement)
        #expect(status { _ = try counter.increment() } == .vaultUnavailable)
        #expect(try counter.value() == before + 1, "the command was not sent twice")
        machine.bus.lose(responseTo: .nvRead)
        #expect(status { _ = try counter.increment() } == .vaultUnavailable)
        #expect(try counter.value() == before + 2)
    }

    @Test func aCommandIsSentAgainUntilTheTPMIsReady() throws {
        let before = try counter.create()
        machine.bus.refuse(.nvIncrement, [0x922, 0x920, 0x920, 0x922])
        #expect(try counter.increment() == before + 1)
        machine.bus.refuse(.nvIncrement, [UInt32](repeating: 0x920, count: 100))
        #expect(status { _ = try counter.increment() } == .vaultUnavailable)
        machine.bus.refuse(.nvIncrement, [])
        #expect(try counter.value() == before + 1)
    }

    @Test func aChangedNumberIsRefused() throws {
        let before = try counter.create()
        machine.bus.change(responsesTo: .nvRead)
        #expect(status { _ = try counter.value() } == .vaultUnavailable)
        machine.bus.change(responsesTo: nil)
        #expect(try counter.value() == before)
    }

    // MARK: - Interrupted creation

    @Test func aCounterWithoutANumberDoesNotExistAndIsCompleted() throws {
        machine.bus.refuse(.nvIncrement, [UInt32](repeating: 0x920, count: 100))
        #expect(status { _ = try counter.create() } == .vaultUnavailable)
        machine.bus.refuse(.nvIncrement, [])
        #expect(try machine.counters() == [Self.first])
        #expect(try counter.value() == nil)
        #expect(status { _ = try counter.increment() } == .anchorGone)
        let number = try counter.create()
        #expect(try counter.value() == number)
        #expect(try machine.counters() == [Self.first])
    }

    // MARK: - Other programs

    @Test func anIndexOfAnotherProgramStays() throws {
        // A counter like ours with another policy, and an index of another kind.
        for (offset, area) in [
            TPMIndexArea.counter(at: TPMHandle(Self.first), policy: [UInt8](repeating: 1, count: 32)),
            TPMIndexArea(
                handle: TPMHandle(Self.first + 1), attributes: [.authorizationReads, .authorizationWrites], policy: [],
                size: 20),
        ].enumerated() {
            #expect(try machine.define(area) == 0, "\(offset)")
        }
        #expect(try counter.value() == nil)
        _ = try counter.create()
        #expect(try machine.counters() == [Self.first, Self.first + 1, Self.first + 2])
        try machine.removeCounters()
        #expect(try counter.value() == nil)
    }

    @Test func everyStoreHasItsOwnCounter() throws {
        let other = try #require(machine.open(owner: [2]).counter)
        let first = try counter.create()
        #expect(try other.value() == nil)
        _ = try other.create()
        _ = try other.increment()
        #expect(try counter.value() == first)
        #expect(try machine.counters().count == 2)
    }

    @Test func aCounterThatGotAPasswordIsNamed() throws {
        let before = try counter.create()
        let area = try ownArea()
        try machine.removeCounters()
        #expect(try machine.define(area, password: [7]) == 0)
        // It has no number yet, and its name is that of ours.
        #expect(try counter.value() == nil)
        let failure = failure { _ = try counter.create() }
        #expect(failure?.status == .vaultUnavailable)
        #expect(failure?.message.contains("password") == true)
        try machine.removeCounters()
        #expect(try counter.create() > before)
    }

    /// The public area of the counter as it was before its first increment.
    private func ownArea() throws -> TPMIndexArea {
        let handle = try #require(try machine.counters().first)
        let response = try machine.bus.send(0x169, [handle], hasPassword: false).response
        var reader = TPMReader(response.dropFirst(10))
        var area = try TPMIndexArea(decoding: try reader.sized(limit: 256))
        #expect(area.attributes.contains(.written))
        #expect(try reader.sized(limit: 64) == area.name())
        area.attributes.remove(.written)
        return area
    }

    @Test func aFullTPMIsNamedAndAnExistingCounterCounts() throws {
        let before = try counter.create()
        try machine.fillIndices()
        let failure = failure { _ = try machine.open(owner: [2]).counter?.create() }
        #expect(failure?.status == .vaultUnavailable)
        #expect(failure?.message.contains("no room") == true)
        #expect(try counter.increment() == before + 1)
    }

    @Test func anOwnerPasswordIsNamedAndAnExistingCounterCounts() throws {
        let before = try counter.create()
        try machine.setOwnerPassword()
        #expect(try counter.increment() == before + 1)
        #expect(try machine.open().rootKey() == Driver.rootKey)
        let failure = failure { _ = try machine.open(owner: [2]).counter?.create() }
        #expect(failure?.status == .vaultUnavailable)
        #expect(failure?.message.contains("owner hierarchy") == true)
        #expect(failure?.hint.contains("owner_auth_file") == true)
    }
}
