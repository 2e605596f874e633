// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Synchronization
import Testing

/// Only the script moves the clock.
@Suite(.timeLimit(.minutes(1))) struct ClockTests {
    private final class Ending: Sendable {
        private let code = Mutex<LAError.Code??>(nil)
        var known: LAError.Code?? { code.withLock { $0 } }
        func set(_ value: LAError.Code?) { code.withLock { $0 = .some(value) } }
    }

    /// Moves the clock forward until `evaluation` has ended; before its prompt is shown, that has no effect on it.
    private func advance(
        _ simulator: Simulator, _ seconds: Int64, until evaluation: @escaping @Sendable () async -> LAError.Code?
    ) async throws -> LAError.Code? {
        let ending = Ending()
        let task = Task { ending.set(await evaluation()) }
        while ending.known == nil {
            try simulator.advance(by: .seconds(seconds))
            await Task.yield()
        }
        await task.value
        return ending.known ?? nil
    }

    @Test func advancingEndsAPromptByItsDeadline() async throws {
        let simulator = try Simulator(waitsForActions: true)
        let code = try await advance(simulator, 61) { await simulator.run { await evaluate() } }
        #expect(code == .systemCancel)
        simulator.touch(matching: true)
        await simulator.run { #expect(await evaluate() == nil, "the next prompt has its own time limit") }
    }

    @Test func anEndedPromptDoesNotTimeOut() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        try await simulator.run {
            #expect(await evaluate() == nil)
            try simulator.advance(by: .seconds(3600))
            simulator.touch(matching: true)
            #expect(await evaluate() == nil)
        }
    }

    @Test func wrongPasscodesDelayTheNextUntilTheClockMoves_LA30() async throws {
        let simulator = try Simulator(sensor: .none)
        for wrong in ["0000", "0001", "0002"] { simulator.enter(passcode: wrong) }
        try await simulator.run {
            #expect(await evaluate() == .authenticationFailed)
            #expect(throws: SimulatorError.self) { try simulator.changePasscode(from: "1234", to: "1234") }
            try simulator.advance(by: .seconds(4))
            #expect(throws: SimulatorError.self) { try simulator.changePasscode(from: "1234", to: "1234") }
            try simulator.advance(by: .seconds(1))
            try simulator.changePasscode(from: "1234", to: "1234")
            simulator.enter(passcode: "1234")
            #expect(await evaluate() == nil)
        }
    }

    @Test func partsOfASecondAreDroppedAndTimeNeverGoesBack() throws {
        let simulator = try Simulator()
        try simulator.advance(by: .milliseconds(999))
        try simulator.advance(by: .seconds(-5))
        try simulator.advance(by: .seconds(Int64.max))
        simulator.run { #expect(add("account") == errSecSuccess) }
    }
}
