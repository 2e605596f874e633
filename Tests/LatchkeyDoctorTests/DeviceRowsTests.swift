// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct DeviceRowsTests {
    private let machine: TemporaryMachine

    init() throws { machine = try TemporaryMachine() }

    @Test func deviceOfTheTPMIsFound() throws {
        #expect(DoctorRow.trustedModule(machine.places).state == .absent)
        try machine.write("/dev/tpmrm0", mode: 0o600)
        #expect(DoctorRow.trustedModule(machine.places).state == .ok)
        let closed = DoctorRow.trustedModule("/dev/tpmrm0", exists: true, mayOpen: false)
        #expect(closed.state == .absent && closed.found.contains("may not be opened"))
    }

    @Test func serviceOfFingerprintReadersIsFound() throws {
        #expect(DoctorRow.fingerprintService(machine.places).state == .absent)
        try machine.write("/usr/share/dbus-1/system-services/net.reactivated.Fprint.service")
        #expect(DoctorRow.fingerprintService(machine.places).state == .ok)
    }

    @Test func theSensorProgramOfTheUsersOwnDaemonIsBesideIt() {
        let missing = DoctorRow.sensorProgram("/opt/x/latchkeyd", exists: false, isSystem: false)
        #expect(missing.state == .absent && missing.found.contains("/opt/x/latchkey-authd is not installed"))
        #expect(missing.hint != nil)
        #expect(DoctorRow.sensorProgram("/opt/x/latchkeyd", exists: true, isSystem: false).state == .ok)
        #expect(DoctorRow.sensorProgram(nil, exists: false, isSystem: false).state == .absent)
        #expect(DoctorRow.sensorProgram(nil, exists: false, isSystem: true).state == .ok)
    }

    @Test func refusedDeclarationsAreNamedWithTheirLine() {
        let problem = AppDeclarations.Problem(file: "/d/a b.conf", line: 3, message: "Unknown key.")
        let row = DoctorRow.declaredApps([problem, problem], folder: "/d", exists: true)
        #expect(row.state == .attention && row.found.contains("/d/a b.conf:3: Unknown key."))
        #expect(row.hint == .init("${EDITOR:-vi} '/d/a b.conf'", needsRoot: true))
        #expect(DoctorRow.declaredApps([], folder: "/d", exists: true).state == .ok)
        #expect(DoctorRow.declaredApps([], folder: "/d", exists: false).state == .absent)
    }
}

/// With a root folder that only root can change, since nothing else is trusted.
@Suite(.needs(.root)) struct DeclaredAppsTests {
    private final class Folder: Sendable {
        let path: String

        init() throws {
            var template = Array("/var/lib/latchkey-test-XXXXXX".utf8CString)
            path = String(cString: try #require(mkdtemp(&template)))
            chmod(path, 0o755)
        }

        deinit { try? DoctorRow("", .ok, "", .init("rm -rf \(path)")).mend() }
    }

    @Test(
        arguments: [
            ("name = Notes\nprogram = /usr/bin/notes\n", 0o664), ("name = Notes\nprogam = /usr/bin/notes\n", 0o644),
        ] as [(String, mode_t)]) func refusedFileIsMended(text: String, mode: mode_t) throws
    {
        let folder = try Folder()
        var places = MachinePlaces(root: folder.path)
        places.administrator = 0
        let file = places.declarations + "/notes.conf"
        let make =
            "umask 022; mkdir -p \(places.declarations) && printf '\(text)' > \(file) && chmod \(String(mode, radix: 8)) \(file)"
        try DoctorRow("", .ok, "", .init(make)).mend()
        #expect(DoctorRow.declaredApps(places).state == .attention)
        // The editor corrects the key.
        try DoctorRow.declaredApps(places).mend(["PATH=/usr/bin:/bin", "EDITOR=sed -i s/progam/program/"])
        #expect(DoctorRow.declaredApps(places).state == .ok, "\(DoctorRow.declaredApps(places))")
        withExtendedLifetime(folder) {}
    }
}
