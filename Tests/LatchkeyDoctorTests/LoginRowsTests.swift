// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TestSupport
import Testing

@testable import LatchkeyDesktop

/// The rows about login sessions, their lock, and the units of the services, with programs that answer as systemd's do.
@Suite struct LoginRowsTests {
    private static let group = "/user.slice/user-1000.slice/session-2.scope"
    private let machine: TemporaryMachine

    init() throws { machine = try TemporaryMachine() }

    // MARK: - Session

    private func answer(_ session: String, display: String = "") throws {
        let script = "#!/bin/sh\n[ \"$1\" = show-user ] && echo '\(display)' && exit\n[ \"$2\" = 2 ] || exit 1\n"
        try machine.write("/usr/bin/loginctl", script + "cat <<END\n\(session)END\n", mode: 0o755)
    }

    private func login(_ group: String? = group) -> LoginFacts? {
        LoginFacts(machine.places, user: 1000, group: group, seconds: 10)
    }

    private static let here = "Type=wayland\nRemote=no\nActive=yes\nLockedHint=no\n"

    @Test func theSessionAtTheMachineIsDescribed() throws {
        try answer(Self.here)
        #expect(login() == LoginFacts(id: "2", type: "wayland"))
        let row = DoctorRow.loginSession(login())
        #expect(row == DoctorRow("login session", .ok, "session 2 (wayland), at this machine, active"))
    }

    @Test func aProgramOfTheUserManagerBelongsToTheDisplayedSession() throws {
        try answer(Self.here, display: "2")
        #expect(login("/user.slice/user-1000.slice/user@1000.service/app.slice")?.id == "2")
        try answer(Self.here)
        #expect(login("/user.slice/user-1000.slice/user@1000.service/app.slice") == nil)
    }

    @Test func aRemoteSessionIsNamed() throws {
        try answer("Type=tty\nRemote=yes\nActive=yes\nLockedHint=no\n")
        let row = DoctorRow.loginSession(login())
        #expect(row.state == .absent && row.found.contains("remote") && row.hint == nil)
    }

    @Test func anInactiveSessionIsActivatedByThePrintedCommand() throws {
        try answer("Type=wayland\nRemote=no\nActive=no\nLockedHint=no\n")
        let row = DoctorRow.loginSession(login())
        #expect(row.state == .absent && row.hint?.command == "loginctl activate 2")
    }

    @Test func whatLogindDoesNotSayGivesLess() throws {
        try answer("Type=wayland\n")
        #expect(login() == LoginFacts(id: "2", type: "wayland", isRemote: true, isActive: false, isLocked: true))
    }

    @Test(arguments: [nil, "/system.slice/cron.service", "/user.slice/user-1001.slice/session-2.scope"])
    func aProgramOutsideOfSessionsIsNamed(_ group: String?) throws {
        try answer(Self.here)
        #expect(login(group) == nil)
        #expect(DoctorRow.loginSession(nil).state == .absent)
    }

    @Test func withoutLogindThereIsNoSession() { #expect(login() == nil) }

    // MARK: - Lock

    private func report(isLocked: Bool) -> StatusReport {
        StatusReport(
            tier: .file, processID: 1, storePath: "", itemCount: 0, biometry: .none, isEnrolled: false,
            isPasscodeSet: true, isBiometryLocked: false, isLocked: isLocked, accessGroup: "", problem: nil)
    }

    @Test func aLockNamesWhatEndsIt() {
        let locked = LoginFacts(id: "2", type: "wayland", isLocked: true)
        #expect(DoctorRow.lock(report(isLocked: true), locked).hint?.command == "loginctl unlock-session 2")
        #expect(DoctorRow.lock(report(isLocked: true), nil).hint?.command == "latchkey unlock")
        #expect(DoctorRow.lock(report(isLocked: false), locked).state == .ok)
        #expect(DoctorRow.lock(nil, locked).state == .absent)
    }

    // MARK: - Units

    private func units(_ text: String) throws -> DoctorRow {
        try machine.write("/run/systemd/system/x")
        try machine.write("/usr/bin/systemctl", "#!/bin/sh\ncat <<END\n\(text)END\n", mode: 0o755)
        return .units(UnitFacts(machine.places, seconds: 10), isInstalled: true)
    }

    private func states(_ load: String, _ active: String) -> String {
        UnitFacts.sockets.map { "Id=\($0)\nLoadState=\(load)\nActiveState=\(active)\n" }.joined(separator: "\n")
    }

    @Test func activeSocketsAreRight() throws { #expect(try units(states("loaded", "active")).state == .ok) }

    @Test func aStoppedSocketIsStartedByThePrintedCommand() throws {
        let stopped = states("loaded", "active").replacing(
            "authd.socket\nLoadState=loaded\nActiveState=active",
            with: "authd.socket\nLoadState=loaded\nActiveState=inactive")
        let row = try units(stopped)
        #expect(row.state == .attention && row.hint?.needsRoot == true)
        #expect(row.hint?.command == "systemctl enable --now latchkey-authd.socket")
    }

    @Test func aUnitThatSystemdDoesNotKnowIsNamed() throws {
        let row = try units(states("not-found", "inactive"))
        #expect(row.state == .attention && row.hint?.command == "systemctl daemon-reload")
        #expect(try units("").state == .attention, "an answer without units")
    }

    @Test func withoutSystemdOrServicesThereAreNoUnits() {
        #expect(DoctorRow.units(UnitFacts(machine.places, seconds: 10), isInstalled: true).state == .absent)
        #expect(DoctorRow.units(UnitFacts(units: nil), isInstalled: false).state == .absent)
    }
}
