// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LatchkeyDoctor

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

    @Test func aServiceFileThatCannotBeReadIsNamed() { #expect(row(nil).state == .attention) }
}
