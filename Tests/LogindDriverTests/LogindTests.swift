// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import TestSupport
import Testing

@Suite(.needs(.messageBus), .timeLimit(.minutes(1))) struct LogindTests {
    typealias Session = LogindStandIn.Session

    private static let open = SessionState(isLocked: false, biometry: .only(["2"]))
    private static let elsewhere = SessionState(isLocked: false, biometry: .only([]))
    private static let locked = SessionState(isLocked: true, biometry: .only([]))

    private func started(_ sessions: [Session], _ bus: PrivateBus) throws -> (LogindStandIn, SessionsUnderTest) {
        let logind = try LogindStandIn(bus, sessions)
        return (logind, try SessionsUnderTest(bus))
    }

    // MARK: - Which sessions permit biometry

    @Test(arguments: [
        (Session(id: "2", user: 1001), open), (Session(id: "2", user: 1002), elsewhere),
        (Session(id: "2", user: 1001, active: false), elsewhere),
        (Session(id: "2", user: 1001, remote: true), elsewhere), (Session(id: "2", user: 1001, seat: ""), elsewhere),
        (Session(id: "2", user: 1001, kind: "greeter"), elsewhere),
        (Session(id: "2", user: 1001, kind: "background"), elsewhere),
        (Session(id: "2", user: 1001, state: "closing"), elsewhere),
        (Session(id: "2", user: 1001, locked: true), locked),
        (Session(id: "2", user: 1002, locked: true), elsewhere),
    ])
    func biometryIsForTheSessionAtTheMachine_abuse22(_ session: Session, _ expected: SessionState) throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([session], bus)
        defer { logind.end() }
        #expect(driver.state() == expected)
    }

    @Test func propertiesThatAreMissingGiveLess() throws {
        let bus = try PrivateBus()
        let logind = try LogindStandIn(
            bus, [Session(id: "2", user: 1001)], replies: ["GetAll": .values([.noProperties])])
        defer { logind.end() }
        #expect(try SessionsUnderTest(bus).state() == Self.elsewhere)
    }

    // MARK: - Changes

    @Test func aSwitchOfTheTerminalIsReported() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([Session(id: "2", user: 1001)], bus)
        defer { logind.end() }
        #expect(driver.state() == Self.open)
        logind.properties("2", [("Active", .flag(false))])
        #expect(try driver.next(.changed).user == nil)
        #expect(try driver.next(.changed).user == 1001)
        #expect(driver.state() == Self.elsewhere)
        logind.properties("2", [("Active", .flag(true))])
        try driver.next(.changed)
        #expect(driver.state() == Self.open)
    }

    @Test func aPropertyWithoutAValueIsRead() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([Session(id: "2", user: 1001)], bus)
        defer { logind.end() }
        #expect(driver.state() == Self.open)
        logind.change { $0["2"]?.active = false }
        logind.properties("2", [], invalid: ["Active"])
        #expect(try driver.next(.changed).user == nil)
        try driver.next(.changed)
        #expect(driver.state() == Self.elsewhere)
    }

    @Test func lockAndUnlockOfTheDesktopAreReported() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([Session(id: "2", user: 1001)], bus)
        defer { logind.end() }
        #expect(driver.state() == Self.open)
        logind.properties("2", [("LockedHint", .flag(true))])
        #expect(try driver.next(.locked) == SessionEvent(user: 1001, session: "2", .locked))
        #expect(driver.state() == Self.locked)
        logind.properties("2", [("LockedHint", .flag(false))])
        try driver.next(.changed)
        #expect(driver.state() == Self.open)
    }

    /// The request is the lock: whether a program shows a lock screen is not known.
    @Test func aRequestedLockEndsWithItsUnlockOrThatOfTheDesktop() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([Session(id: "2", user: 1001)], bus)
        defer { logind.end() }
        _ = driver.state()
        logind.session("2", "Lock")
        try driver.next(.locked)
        logind.session("2", "Unlock")
        try driver.next(.changed)
        #expect(driver.state() == Self.open)
        logind.session("2", "Lock")
        try driver.next(.locked)
        logind.properties("2", [("LockedHint", .flag(true))])
        logind.properties("2", [("LockedHint", .flag(false))])
        try driver.next(.changed)
        #expect(driver.state() == Self.open)
    }

    @Test func aNewSessionAndTheEndOfTheLastOneAreReported() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([], bus)
        defer { logind.end() }
        #expect(driver.state() == Self.elsewhere)
        logind.change { $0["2"] = Session(id: "2", user: 1001) }
        logind.manager("SessionNew", [.string("2"), .path(LogindStandIn.path("2"))])
        #expect(try driver.next(.changed).user == nil)
        #expect(try driver.next(.changed).user == 1001)
        #expect(driver.state() == Self.open)
        logind.change { $0["3"] = Session(id: "3", user: 1001, remote: true) }
        logind.manager("SessionNew", [.string("3"), .path(LogindStandIn.path("3"))])
        try logind.wait(for: "GetAll", times: 2)
        logind.manager("SessionRemoved", [.string("2"), .path(LogindStandIn.path("2"))])
        try driver.next(.changed)
        logind.manager("SessionRemoved", [.string("3"), .path(LogindStandIn.path("3"))])
        #expect(try driver.next(.ended) == SessionEvent(user: 1001, session: "3", .ended))
    }

    @Test func everyLockIsReportedAlsoWhileAnotherSessionIsLocked() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started(
            [Session(id: "2", user: 1001, locked: true), Session(id: "3", user: 1001)], bus)
        defer { logind.end() }
        #expect(driver.state().isLocked)
        logind.properties("3", [("LockedHint", .flag(true))])
        while try driver.next(.locked).session != "3" {}
        logind.properties("2", [("LockedHint", .flag(false))])
        logind.session("3", "Unlock")
        logind.properties("3", [("LockedHint", .flag(false))])
        while driver.state().isLocked { try driver.next(.changed) }
    }

    // MARK: - Sleep

    @Test func sleepIsALockAndWaitsUntilKeysAreRemoved() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([Session(id: "2", user: 1001)], bus)
        defer { logind.end() }
        #expect(driver.state() == Self.open)
        try logind.wait(for: "Inhibit")
        let held = try logind.closesDelay()
        logind.manager("PrepareForSleep", [.flag(true)])
        #expect(try driver.next(.locked).user == nil)
        #expect(driver.state() == Self.locked && driver.state(0) == Self.locked)
        logind.dropOwnDelay()
        #expect(try held.wait(for: POLLIN, until: Uptime.deadline(seconds: 0)) == false, "sleep still waits")
        for done in driver.finish.all { done() }
        #expect(try held.wait(for: POLLIN, until: Uptime.deadline(seconds: 10)), "released")
        logind.manager("PrepareForSleep", [.flag(false)])
        #expect(try driver.next(.changed).user == nil)
        #expect(driver.state() == Self.open)
        try logind.wait(for: "Inhibit", times: 2)
    }

    @Test func aSessionThatWasLockedBeforeSleepIsLockedAfterwards() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([Session(id: "2", user: 1001)], bus)
        defer { logind.end() }
        _ = driver.state()
        logind.properties("2", [("LockedHint", .flag(true))])
        try driver.next(.locked)
        logind.manager("PrepareForSleep", [.flag(true)])
        try driver.next(.locked)
        logind.manager("PrepareForSleep", [.flag(false)])
        try driver.next(.changed)
        #expect(driver.state() == Self.locked)
        #expect(driver.state(0) == Self.elsewhere)
    }

    @Test func aRefusedDelayIsLogged() throws {
        let bus = try PrivateBus()
        let logind = try LogindStandIn(
            bus, [], replies: ["Inhibit": .error("org.freedesktop.DBus.Error.AccessDenied")])
        defer { logind.end() }
        let driver = try SessionsUnderTest(bus)
        try driver.log.wait(for: .sleepNotDelayed)
        #expect(driver.log.messages[0].contains("AccessDenied"))
    }

    // MARK: - Who speaks

    @Test func aSignalOfAnotherProgramIsIgnoredAndLoggedOnce_abuse14() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([Session(id: "2", user: 1001, locked: true)], bus)
        defer { logind.end() }
        #expect(driver.state() == Self.locked)
        try logind.wait(for: "Inhibit")
        let victim = try #require(logind.program.received.first).sender
        let forger = try BusProgram(bus, name: nil) { _ in .none }
        let gone = try driver.departure(of: forger.uniqueName)
        for destination in [nil, victim] {
            forger.signal(
                LogindStandIn.path("2"), "org.freedesktop.login1.Session", "Unlock", [], to: destination)
            forger.signal(
                LogindStandIn.path("2"), "org.freedesktop.DBus.Properties", "PropertiesChanged",
                [
                    .string("org.freedesktop.login1.Session"), .properties([("LockedHint", .flag(false))]),
                    .strings([]),
                ], to: destination)
        }
        // The bus announces the end of the forger after everything that it has sent.
        forger.end()
        try gone.signalled()
        #expect(driver.state() == Self.locked)
        #expect(driver.log.events == [.sessionsRefused])
        #expect(driver.log.messages.first?.contains(forger.uniqueName) == true)
    }

    @Test func aNameOfAnotherUserIsNotTrustedAndCountsAsLocked() throws {
        let bus = try PrivateBus()
        let logind = try LogindStandIn(bus, [Session(id: "2", user: 1001)])
        defer { logind.end() }
        let driver = try SessionsUnderTest(bus, trustedUser: 12345)
        #expect(driver.state() == Self.locked)
        #expect(driver.log.events == [.sessionsRefused])
        #expect(driver.log.messages.first?.contains("belongs to user \(SessionsUnderTest.user), not to root") == true)
        #expect(logind.program.received.isEmpty, "nothing is sent to it")
    }

    // MARK: - Who does not answer

    @Test(arguments: ["Get", "ListSessions", "GetAll"]) func aSilentLogindCountsAsLocked(_ silent: String) throws {
        let bus = try PrivateBus()
        let logind = try LogindStandIn(bus, [Session(id: "2", user: 1001)], replies: [silent: .none])
        defer { logind.end() }
        var timing = LogindSessions.Timing()
        timing.call = 100
        let driver = try SessionsUnderTest(bus, timing: timing)
        #expect(driver.state() == Self.locked)
        try driver.log.wait(for: .sessionsUnknown)
    }

    @Test func aLogindThatAnswersLaterIsAskedAgain() throws {
        let bus = try PrivateBus()
        let logind = try LogindStandIn(bus, [Session(id: "2", user: 1001)], replies: ["ListSessions": .none])
        defer { logind.end() }
        var timing = LogindSessions.Timing()
        (timing.call, timing.retry, timing.longestRetry) = (50, 10, 10)
        let driver = try SessionsUnderTest(bus, timing: timing)
        #expect(driver.state() == Self.locked)
        logind.answer("ListSessions")
        #expect(try driver.next(.changed).user == nil)
        while driver.state() != Self.open { try driver.next(.changed) }
        #expect(driver.log.events == [.sessionsUnknown], "logged once")
    }

    @Test func aBusThatDoesNotAnswerCountsAsLockedWithinTheDeadline() throws {
        let folder = try TemporaryFolder()
        let listener = try Sockets.listen(folder.path + "/socket")
        defer { withExtendedLifetime(listener) {} }
        let bus = try SystemBus(address: "unix:path=\(folder.path)/socket")
        defer { bus.end() }
        var timing = LogindSessions.Timing()
        timing.state = 100
        #expect(LogindSessions(bus, timing: timing, log: CollectedLog()).sessions(of: 1001) == Self.locked)
    }

    @Test func withoutLogindNothingIsLockedAndBiometryIsRefused() throws {
        let bus = try PrivateBus()
        let driver = try SessionsUnderTest(bus)
        #expect(driver.state() == Self.elsewhere)
        #expect(driver.log.events.isEmpty, "a machine without logind is not an error")
        let logind = try LogindStandIn(bus, [Session(id: "2", user: 1001)])
        defer { logind.end() }
        while driver.state() != Self.open { try driver.next(.changed) }
    }

    @Test func withoutABusNothingIsLockedAndBiometryIsRefused() throws {
        let folder = try TemporaryFolder()
        let bus = try SystemBus(address: "unix:path=\(folder.path)/socket")
        defer { bus.end() }
        #expect(LogindSessions(bus, log: CollectedLog()).sessions(of: 1001) == Self.elsewhere)
    }

    @Test func aRestartOfLogindRefusesBiometryAndKeepsLocks() throws {
        let bus = try PrivateBus()
        let (first, driver) = try started(
            [Session(id: "2", user: 1001), Session(id: "3", user: 1002, locked: true)], bus)
        #expect(driver.state() == Self.open && driver.state(1002) == Self.locked)
        first.end()
        while driver.state() != Self.elsewhere { try driver.next(.changed) }
        #expect(driver.state(1002) == Self.locked)
        // logind does not store the hint.
        let second = try LogindStandIn(bus, [Session(id: "2", user: 1001), Session(id: "3", user: 1002)])
        defer { second.end() }
        while driver.state() != Self.open { try driver.next(.changed) }
        #expect(driver.state(1002) == Self.locked)
        try second.wait(for: "Inhibit")
        second.session("3", "Unlock")
        while driver.state(1002).isLocked { try driver.next(.changed) }
    }

    // MARK: - Requests that come early

    private static let session = "org.freedesktop.login1.Session"

    @Test func aLockThatIsRequestedWhileTheSessionsAreReadIsFollowed() throws {
        let bus = try PrivateBus()
        let logind = try LogindStandIn(bus, [Session(id: "2", user: 1001)])
        defer { logind.end() }
        logind.program.signalBefore("GetAll", LogindStandIn.path("2"), Self.session, [("Lock", [])])
        let driver = try SessionsUnderTest(bus)
        while driver.state() != Self.locked { try driver.next(.locked) }
    }

    @Test func aLockOfASessionThatIsNotKnownYetIsFollowed() throws {
        let bus = try PrivateBus()
        let (logind, driver) = try started([Session(id: "2", user: 1001)], bus)
        defer { logind.end() }
        #expect(driver.state() == Self.open)
        logind.change { $0["5"] = Session(id: "5", user: 1001) }
        let path = LogindStandIn.path("5")
        logind.program.signalBefore("GetAll", path, Self.session, [("Lock", []), ("Unlock", []), ("Lock", [])])
        logind.manager("SessionNew", [.string("5"), .path(path)])
        while !driver.state().isLocked { try driver.next(.locked) }
        logind.session("5", "Unlock")
        while driver.state().isLocked { try driver.next(.changed) }
    }

    @Test func aLockThatALogindRequestsAtOnceAfterItsStartIsFollowed() throws {
        let bus = try PrivateBus()
        let (first, driver) = try started([Session(id: "2", user: 1001)], bus)
        #expect(driver.state() == Self.open)
        first.end()
        while driver.state() != Self.elsewhere { try driver.next(.changed) }
        let second = try LogindStandIn(bus, [Session(id: "2", user: 1001)])
        defer { second.end() }
        second.session("2", "Lock")
        while !driver.state().isLocked { try driver.next(.locked) }
    }

    /// The first of them waits until the session is known, the last one need not.
    @Test func theLastOfSeveralRequestsCounts() throws {
        let bus = try PrivateBus()
        let logind = try LogindStandIn(bus, [Session(id: "2", user: 1001), Session(id: "3", user: 1002)])
        defer { logind.end() }
        let path = LogindStandIn.path("2")
        logind.program.signalBefore("GetAll", path, Self.session, [("Lock", []), ("Unlock", [])])
        let driver = try SessionsUnderTest(bus)
        #expect(driver.state() == Self.open)
        logind.session("2", "Lock")
        while !driver.state().isLocked { try driver.next(.locked) }
    }

    /// Starts logind again after another program has sent requests for these sessions to the driver.
    private func restarted(
        _ bus: PrivateBus, afterForged member: String, for sessions: ClosedRange<Int>
    ) throws -> (LogindStandIn, SessionsUnderTest) {
        let (first, driver) = try started([Session(id: "2", user: 1001)], bus)
        #expect(driver.state() == Self.open)
        let asker = try #require(first.program.received.first?.sender)
        first.end()
        while driver.state() != Self.elsewhere { try driver.next(.changed) }
        let forger = try BusProgram(bus, name: nil) { _ in .none }
        let gone = try driver.departure(of: forger.uniqueName)
        for session in sessions {
            forger.signal(LogindStandIn.path("\(session)"), Self.session, member, [], to: asker)
        }
        // The bus announces the end of the forger after everything that it has sent.
        forger.end()
        try gone.signalled()
        return (try LogindStandIn(bus, [Session(id: "2", user: 1001)]), driver)
    }

    /// More requests than are stored may have displaced one of logind: every session counts as locked.
    @Test func aFloodOfRequestsLocks_abuse14() throws {
        let bus = try PrivateBus()
        let (second, driver) = try restarted(bus, afterForged: "Unlock", for: 0...256)
        defer { second.end() }
        while !driver.state().isLocked { try driver.next(.locked) }
        second.session("2", "Unlock")
        while driver.state() != Self.open { try driver.next(.changed) }
    }

    /// The end of logind while it is asked for its sessions: what it has not described is not taken for ended.
    @Test func aLogindThatEndsWhileItIsAskedIsNotKnown() throws {
        let bus = try PrivateBus()
        let first = try LogindStandIn(
            bus, [Session(id: "2", user: 1001, locked: true)], replies: ["GetAll": .none])
        let driver = try SessionsUnderTest(bus)
        try first.wait(for: "GetAll")
        first.end()
        let second = try LogindStandIn(bus, [Session(id: "2", user: 1001, locked: true)])
        defer { second.end() }
        try second.wait(for: "Inhibit")
        #expect(driver.state() == Self.locked)
        second.properties("2", [("LockedHint", .flag(false))])
        while driver.state() != Self.open { try driver.next(.changed) }
    }

    /// Only what logind itself has sent is applied.
    @Test func aLockOfAnotherProgramIsNotFollowedLater() throws {
        let bus = try PrivateBus()
        let (second, driver) = try restarted(bus, afterForged: "Lock", for: 2...2)
        defer { second.end() }
        while driver.state() != Self.open { try driver.next(.changed) }
    }
}
