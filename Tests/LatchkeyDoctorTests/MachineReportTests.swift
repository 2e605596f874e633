// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyDesktop

/// What can be sent to the maintainers about a machine.
@Suite struct MachineReportTests {
    private let machine: TemporaryMachine

    init() throws { machine = try TemporaryMachine() }

    private func report(
        rows: [DoctorRow] = [], readers: [FingerprintReader]? = nil, _ session: LoginFacts? = nil
    ) -> MachineReport {
        MachineReport(machine.places, rows: rows, readers: readers, chip: ["SW TPM, firmware 1.2.3.4"], session)
    }

    private func values(_ name: String, _ report: MachineReport) -> [String]? {
        report.lines.first { $0.name == name }?.values
    }

    @Test func systemAndSurroundingsAreNamed() throws {
        try machine.write("/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n")
        try machine.write("/run/systemd/container", "podman")
        let report = report()
        #expect(values("latchkey", report) == [productVersion])
        #expect(values("system", report)?.first == "Debian GNU/Linux 13 (trixie)")
        #expect(values("system", report)?.last?.hasPrefix("glibc 2.") == true)
        #expect(values("surroundings", report) == ["no systemd", "container"])
        #expect(values("TPM", report) == ["SW TPM, firmware 1.2.3.4"])
    }

    @Test func onlyReadersOfTheDatabaseAreNamedAndThoseWithoutADriverSaySo() throws {
        try machine.write(
            "/usr/lib/udev/hwdb.d/60-autosuspend-libfprint-2.hwdb",
            "# Supported by libfprint driver goodixmoc\nusb:v27C6p5840*\n\n# Known unsupported devices\nusb:v27C6p55A2*\n"
        )
        for (name, vendor, product) in [
            ("1-1", "27c6", "5840"), ("1-2", "27c6", "55a2"), ("1-3", "046d", "c52b"),
        ] {
            try machine.write("/sys/bus/usb/devices/\(name)/idVendor", vendor + "\n")
            try machine.write("/sys/bus/usb/devices/\(name)/idProduct", product + "\n")
            try machine.write("/sys/bus/usb/devices/\(name)/serial", "SERIAL-OF-\(name)\n")
        }
        let report = report(readers: [FingerprintReader(name: "Goodix MOC", isSwiped: false, fingers: ["left-thumb"])])
        #expect(values("reader on USB", report) == ["27c6:55a2, no driver", "27c6:5840"])
        #expect(values("reader", report) == ["Goodix MOC, press"])
        for secret in ["SERIAL", "thumb", "046d"] { #expect(!report.text.contains(secret), "\(secret)") }
    }

    @Test func stacksHaveControlAndModuleOnly() throws {
        try machine.write(
            "/etc/pam.d/common-auth",
            """
            # the usual stack
            auth [success=2 default=ignore] pam_fprintd.so max-tries=1
            auth\t[success=1 default=ignore]\tpam_unix.so nullok
            -auth optional /opt/acme/pam_acme.so server=vault.acme.example user=alice
            account required pam_permit.so
            @include common-more
            """)
        let report = report()
        #expect(
            values("PAM, common-auth", report) == [
                "success=2 default=ignore pam_fprintd.so", "success=1 default=ignore pam_unix.so",
                "optional pam_acme.so", "include common-more",
            ])
        for secret in ["vault", "alice", "/opt", "nullok"] { #expect(!report.text.contains(secret), "\(secret)") }
    }

    @Test func rowsOfTheDoctorHaveTheirStateOnly() {
        let report = report(
            rows: [DoctorRow("store", .attention, "/home/alice/.local/share/latchkey has mode 755")],
            LoginFacts(id: "4711", type: "wayland", isRemote: true))
        #expect(values("doctor, store", report) == ["attention"])
        #expect(values("session", report) == ["wayland", "remote"])
        #expect(!report.text.contains("alice") && !report.text.contains("4711"))
    }

    @Test func hostileTextBecomesOneShortLine() throws {
        let hostile = "evil\u{1b}[2J\u{202e}" + String(repeating: "x", count: 500)
        try machine.write("/etc/os-release", "PRETTY_NAME=\"\(hostile)\"\n")
        let report = report(readers: [FingerprintReader(name: hostile)])
        let system = try #require(values("system", report)?.first)
        #expect(system.hasPrefix("evil??2J?xxx") && system.count == 80)
        #expect(values("reader", report)?.first?.hasPrefix("evil??2J?xxx") == true)
    }

    @Test func whatIsNotKnownIsSaid() {
        #expect(report().text.contains("reader on USB: not known\npackages: not known\n"))
        #expect(values("reader", report(readers: [])) == ["none"])
        #expect(values("PAM, login", report()) == nil)
    }
}
