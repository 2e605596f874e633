// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import TestPromises
import Testing

/// Wrong passcodes delay the next try, and neither a restart of the daemon nor one of the machine shortens the delay.
@Suite struct RestartedDelayTests {
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let clock = BootClock(boot: "monday", uptimeSeconds: 995)
        let service = try start(clock)
        #expect(service.setPasscode("right") == nil)
        for _ in 0..<3 { #expect(service.tryPasscode("wrong") == .authenticationFailed) }
        #expect(service.tryPasscode("right") == .passcodeDelayed)
        clock.advance(seconds: 5)
        // The fourth wrong passcode, at 1000 seconds, delays the next try by a minute.
        #expect(service.tryPasscode("wrong") == .authenticationFailed)
    }

    /// Starts a daemon on the store of this test.
    private func start(_ clock: any Clock) throws -> StartedService {
        try StartedService(try store.open(clock: clock), clock: clock)
    }

    @Test func aNewDaemonInTheSameBootContinuesTheDelay_LA30() throws {
        let service = try start(BootClock(boot: "monday", uptimeSeconds: 1059))
        #expect(service.tryPasscode("right") == .passcodeDelayed)
        let later = try start(BootClock(boot: "monday", uptimeSeconds: 1060))
        #expect(later.tryPasscode("right") == nil)
    }

    @Test func anotherBootRestartsTheDelay_abuse28() throws {
        for uptime: Int64 in [0, 5, 5000] {
            let service = try start(BootClock(boot: "boot at \(uptime)", uptimeSeconds: uptime))
            #expect(service.tryPasscode("right") == .passcodeDelayed)
        }
    }

    @Test(.promise("abuse.28")) func theWallClockDoesNotShortenTheDelay_abuse28() throws {
        let clock = BootClock(boot: "monday", uptimeSeconds: 1030)
        let service = try start(clock)
        clock.setWallTime(4_000_000_000_000_000)
        #expect(service.tryPasscode("right") == .passcodeDelayed)
        clock.setWallTime(0)
        #expect(service.tryPasscode("right") == .passcodeDelayed)
    }

    /// Tries and delays do not depend on the wall clock, which users can set; only the audit log reads it.
    @Test func theWallClockIsReadForTheAuditLogAlone_abuse28() throws {
        let clock = BootClock(boot: "monday", uptimeSeconds: 1060)
        let service = try start(clock)
        func entries() throws -> Int {
            var last: Int64 = 0
            try store.edit { last = try $0.lastAuditEntry()?.sequence ?? 0 }
            return Int(last)
        }
        let (before, entriesBefore) = (clock.wallReadings, try entries())
        #expect(service.tryPasscode("wrong") == .authenticationFailed)
        #expect(service.tryPasscode("right") == .passcodeDelayed)
        clock.advance(seconds: 300)
        #expect(service.tryPasscode("wrong") == .authenticationFailed)
        #expect(clock.wallReadings - before == (try entries()) - entriesBefore)
    }
}
