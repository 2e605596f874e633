// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import SimulatedDriver
import Synchronization
import TestSupport
import Testing

@testable import LatchkeyAuthority

/// The audit logs of the users record refused sensors and login sessions, without being filled by them.
@Suite struct RefusalNoticesTests {
    private let forged = Failure(.peerNotTrusted, "A signal was sent by another program.")

    /// What was reported, and whether reports are taken.
    private final class Reports: Sendable {
        let taken = Recorder<String>()
        let isTaking = Mutex(true)

        func follow(_ notices: RefusalNotices) {
            notices.observe { source, count in
                guard self.isTaking.withLock({ $0 }) else { return false }
                self.taken.add("\(source) \(count)")
                return true
            }
        }
    }

    private func record(_ event: DaemonEvent, _ count: Int = 1, _ notices: RefusalNotices) {
        for _ in 0..<count { notices.record(event, forged) }
    }

    @Test func aFloodIsOneReportForEachSourceAndTime() {
        let (clock, log, reports) = (VirtualClock(), CollectedEvents(), Reports())
        let notices = RefusalNotices(log, clock: clock)
        reports.follow(notices)
        record(.sensorRefused, 100, notices)
        record(.sessionsRefused, 1, notices)
        #expect(reports.taken.all == ["sensor 1", "sessions 1"])
        clock.advance(seconds: RefusalNotices.seconds - 1)
        record(.sensorRefused, 1, notices)
        #expect(reports.taken.all.count == 2)
        // No other refusal follows, and what was counted is reported nevertheless.
        clock.advance(seconds: 1)
        #expect(reports.taken.all == ["sensor 1", "sessions 1", "sensor 100"])
        clock.advance(seconds: RefusalNotices.seconds)
        #expect(reports.taken.all.count == 3)
        #expect(log.entries.count == 102, "the log of the daemon has each of them")
    }

    @Test func otherEventsAreLoggedOnly() {
        let (log, reports) = (CollectedEvents(), Reports())
        let notices = RefusalNotices(log, clock: VirtualClock())
        reports.follow(notices)
        for event in DaemonEvent.allCases where UntrustedSource(event) == nil { record(event, 1, notices) }
        #expect(reports.taken.all.isEmpty)
        #expect(log.entries.count == DaemonEvent.allCases.count - UntrustedSource.allCases.count)
    }

    @Test func whatNobodyTookIsReportedLater() {
        let (clock, reports) = (VirtualClock(), Reports())
        let notices = RefusalNotices(UnwatchedLog(), clock: clock)
        record(.sensorRefused, 2, notices)
        reports.isTaking.withLock { $0 = false }
        reports.follow(notices)
        record(.sensorRefused, 1, notices)
        reports.isTaking.withLock { $0 = true }
        notices.deliver()
        #expect(reports.taken.all == ["sensor 3"])
    }

    // MARK: - Through both services

    private func entries(_ machine: TwoServices) throws -> [AuditLine] {
        let page = try machine.keychain.log(Request.Log(after: 0, limit: Limits.auditEntries, verifies: true))
        #expect(page.finding == nil)
        return page.lines.filter { [.sensorRefused, .sessionsRefused, .accountsRefused].contains($0.event) }
    }

    @Test func theAuditLogOfAnAttachedUserRecordsRefusals() throws {
        let machine = try TwoServices()
        record(.sensorRefused, 1, machine.refusals)
        record(.sessionsRefused, 3, machine.refusals)
        record(.accountsRefused, 1, machine.refusals)
        #expect(try entries(machine).map(\.event) == [.sensorRefused, .sessionsRefused, .accountsRefused])
        machine.clock.advance(seconds: RefusalNotices.seconds)
        let all = try entries(machine)
        #expect(all.map(\.count) == [1, 1, 1, 2])
        #expect(all.allSatisfy { $0.caller.isEmpty && $0.processID == 0 && $0.item.isEmpty })
    }

    @Test func aRefusalWithoutAConnectionIsRecordedWhenTheUserIsAttached() throws {
        let machine = try TwoServices()
        machine.crashAuthority(refusing: true)
        record(.sensorRefused, 2, machine.refusals)
        #expect(try entries(machine).isEmpty)
        machine.allowConnections()
        machine.clock.advance(seconds: 60)
        #expect(try entries(machine).map(\.count) == [2])
    }

    @Test func aFloodAcrossConnectionsDoesNotFillTheAuditLog() throws {
        let machine = try TwoServices()
        for _ in 0..<50 {
            record(.sensorRefused, 20, machine.refusals)
            machine.crashAuthority()
            machine.clock.advance(seconds: 2)
        }
        #expect(try entries(machine).count == 1, "100 seconds are less than the time between two reports")
    }

    @Test func theNumberOfAnotherUserRecordsNothing() throws {
        let machine = try TwoServices()
        let refused = StoreCall.Refused(userID: TwoServices.userID + 1, source: .sensor, count: 1)
        machine.sendToStore(ServiceMessage.storeCall(0, .refused(refused)).encoded())
        #expect(try entries(machine).isEmpty)
    }
}
