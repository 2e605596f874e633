// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct PasswordRowTests {
    private static let right = "auth required pam_unix.so nodelay\naccount required pam_unix.so\n"

    private func row(_ text: String?, mode: UInt32 = 0o644, owner: UInt32 = 0, isInstalled: Bool = true) -> DoctorRow {
        .accountPasswords(
            "/etc/pam.d/latchkey", PathState("/etc/pam.d/latchkey", .file, owner: owner, mode: mode), text: text, [],
            administrator: 0, isInstalled: isInstalled)
    }

    @Test func theServiceFileOfThePackageIsFine() { #expect(row(Self.right).state == .ok) }

    @Test func aMissingServiceFileIsNamedAndMadeWhereTheServicesAre() {
        func row(_ isInstalled: Bool) -> DoctorRow {
            .accountPasswords("/p", nil, text: nil, [], administrator: 0, isInstalled: isInstalled)
        }
        #expect(row(false).state == .absent && row(false).hint == nil)
        #expect(row(true).state == .attention && row(true).hint?.needsRoot == true)
    }

    @Test(arguments: ["@include common-auth\n", "auth required pam_unix.so\n", "auth required pam_unix.so nullok\n"])
    func aServiceFileThatDoesNotDecideAloneIsNamed(text: String) {
        #expect(row(text).state == .attention && row(text).hint?.needsRoot == true)
    }

    @Test func aServiceFileThatOthersCanChangeIsNamed() {
        #expect(row(Self.right, mode: 0o664).state == .attention)
        #expect(row(Self.right, owner: 1000).hint?.command.contains("chown 0") == true)
    }

    private static let defects: [(String?, mode_t)] = [
        (nil, 0o644), ("@include common-auth\n", 0o644), ("auth required pam_unix.so nullok\n", 0o600), (right, 0o666),
    ]

    @Test(arguments: defects)
    func aDefectOfTheServiceFileIsMendedByThePrintedCommand(text: String?, mode: mode_t) throws {
        let machine = try TemporaryMachine()
        try machine.write("/etc/pam.d/other")
        if let text { try machine.write("/etc/pam.d/latchkey", text, mode: mode) }
        let row = DoctorRow.accountPasswords(machine.places, isInstalled: true)
        #expect(row.state == .attention && row.hint?.needsRoot == true, "\(row)")
        try row.mend()
        let mended = DoctorRow.accountPasswords(machine.places, isInstalled: true)
        #expect(mended.state == .ok, "\(mended)")
    }

    private func faces(_ text: String?, mode: UInt32 = 0o644, isUsed: Bool?) -> DoctorRow {
        .faces(
            "/f", text.map { _ in PathState("/f", .file, owner: 0, mode: mode) }, text: text, [], administrator: 0,
            isUsed: isUsed)
    }

    @Test func theServiceFileOfFacesIsNeededOnlyWhereFacesAreUsed() {
        #expect(faces(nil, isUsed: false).state == .absent && faces(nil, isUsed: nil).state == .absent)
        #expect(faces(nil, isUsed: true).state == .attention)
        #expect(faces(Self.right, isUsed: false).state == .absent && faces(Self.right, isUsed: true).state == .ok)
    }

    @Test func aServiceFileOfFacesThatOthersCanChangeIsNamed() {
        #expect(faces(Self.right, mode: 0o666, isUsed: false).state == .attention)
        #expect(faces("@include common-auth\n", isUsed: true).state == .attention)
    }

    @Test func onlyTheLineOfTheConfigurationUsesFaces() throws {
        let machine = try TemporaryMachine()
        #expect(DoctorRow.faces(machine.places).state == .absent)
        try machine.write("/etc/latchkey/latchkeyd.conf", "tier = file\n#face = policy\n")
        #expect(DoctorRow.faces(machine.places).state == .absent)
        try machine.write("/etc/latchkey/latchkeyd.conf", "tier = file\nface = policy # a camera\n")
        #expect(DoctorRow.faces(machine.places).state == .attention)
        try machine.write("/etc/pam.d/latchkey-face", Self.right)
        #expect(DoctorRow.faces(machine.places).state == .ok)
    }

    @Test func aServiceFileThatCannotBeReadIsNamed() { #expect(row(nil).state == .attention) }
}
