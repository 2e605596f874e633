// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import SimulatedDriver
import Synchronization
import SystemDriver
import Testing

/// Wrong passcodes delay the next try, and neither a restart of the daemon nor one of the machine shortens the delay.
@Suite struct RestartedDelayTests {
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let clock = BootClock(boot: "monday", uptimeSeconds: 995)
        let service = try start(clock)
        #expect(answer(service, .set(SecretBytes("right".utf8))) == .done)
        for _ in 0..<3 { #expect(tryPasscode(service, "wrong") == .authenticationFailed) }
        #expect(tryPasscode(service, "right") == .passcodeDelayed)
        clock.advance(seconds: 5)
        // The fourth wrong one at 1000 seconds delays the next by a minute.
        #expect(tryPasscode(service, "wrong") == .authenticationFailed)
    }

    /// A daemon on the store of this test.
    private func start(_ clock: any Clock) throws -> Service {
        let world = SimulatedWorld(
            WorldState(sensor: .none), clock: VirtualClock(), random: store.random, save: { _ in })
        return Service(
            Service.Parts(
                tier: .simulated, storePath: "", processID: 1, keychain: .success(try store.open(clock: clock)),
                reader: world, prompter: ScriptedPrompter(SimulatedPrompter(), world: world), clock: clock,
                random: store.random,
                work: ImmediateWorkQueue(), controls: nil))
    }

    private func answer(_ service: Service, _ change: Request.PasscodeChange) -> Reply? {
        let session = service.session(caller: StoreOnDisk.caller, terminal: 0, mayNameItself: false)
        let reply = Mutex<Reply?>(nil)
        session.handle(1, .passcode(change)) { answer in reply.withLock { $0 = answer } }
        return reply.withLock { $0 }
    }

    /// Tries a passcode by changing it to itself.
    private func tryPasscode(_ service: Service, _ passcode: String) -> Status? {
        let bytes = SecretBytes(passcode.utf8)
        guard case .failure(let failure) = answer(service, .change(old: bytes, new: SecretBytes("right".utf8))) else {
            return nil
        }
        return failure.status
    }

    @Test func aNewDaemonOfTheSameBootGoesOnWithTheDelay_LA30() throws {
        let service = try start(BootClock(boot: "monday", uptimeSeconds: 1059))
        #expect(tryPasscode(service, "right") == .passcodeDelayed)
        let later = try start(BootClock(boot: "monday", uptimeSeconds: 1060))
        #expect(tryPasscode(later, "right") == nil)
    }

    @Test func anotherBootBeginsTheDelayAnew_abuse28() throws {
        for uptime: Int64 in [0, 5, 5000] {
            let service = try start(BootClock(boot: "boot at \(uptime)", uptimeSeconds: uptime))
            #expect(tryPasscode(service, "right") == .passcodeDelayed)
        }
    }

    @Test func theWallClockDoesNotShortenTheDelay_abuse28() throws {
        let clock = BootClock(boot: "monday", uptimeSeconds: 1030)
        let service = try start(clock)
        clock.setWallTime(4_000_000_000_000_000)
        #expect(tryPasscode(service, "right") == .passcodeDelayed)
        clock.setWallTime(0)
        #expect(tryPasscode(service, "right") == .passcodeDelayed)
    }

    @Test func countersThatWereChangedInTheFileLockBiometry_abuse27() throws {
        try store.edit { try $0.setRecord("policy.counters", [1, 2, 3]) }
        let service = try start(BootClock(boot: "monday", uptimeSeconds: 1000))
        let session = service.session(caller: StoreOnDisk.caller, terminal: 0, mayNameItself: false)
        let report = Mutex<StatusReport?>(nil)
        session.handle(1, .status) { reply in
            if case .status(let status) = reply { report.withLock { $0 = status } }
        }
        #expect(report.withLock { $0?.isBiometryLocked } == true)
    }
}
