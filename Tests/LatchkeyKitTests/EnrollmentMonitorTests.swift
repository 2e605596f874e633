// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyKit
import LatchkeyModel
import LatchkeySimulator
import LatchkeyTesting
import Security
import Testing

@Suite(.simulator()) struct EnrollmentMonitorTests {
    private let monitor = EnrollmentMonitor(entry: .password(service: "app", account: "enrolled"))

    @Test func withoutATrustedSetItIsAFirstRun() throws {
        #expect(try monitor.check() == .firstRun)
        #expect(try monitor.check().requiresPassword)
    }

    @Test func theTrustedSetIsUnchanged() throws {
        #expect(try monitor.trustCurrent())
        #expect(try monitor.check() == .unchanged)
        #expect(try !monitor.check().requiresPassword)
        let again = EnrollmentMonitor(entry: .password(service: "app", account: "enrolled"))
        #expect(try again.check() == .unchanged, "after a restart of the app")
    }

    @Test func aNewFingerIsAChangeUntilItIsTrusted() throws {
        try monitor.trustCurrent()
        for change in [{ try machine().enroll() }, { try machine().replaceFinger() }] {
            try change()
            #expect(try monitor.check() == .changed)
            #expect(try monitor.check() == .changed, "check does not change the trusted set")
            try monitor.trustCurrent()
            #expect(try monitor.check() == .unchanged)
        }
    }

    @Test func removingAllFingersIsAChange() throws {
        try monitor.trustCurrent()
        try machine().unenroll()
        #expect(try monitor.check() == .changed)
        #expect(try !monitor.trustCurrent())
        #expect(try monitor.check() == .firstRun)
    }

    @Test func aLockoutIsUnknownAndNotAChange() async throws {
        let simulator = try machine()
        try monitor.trustCurrent()
        for _ in 0..<5 { simulator.touch(matching: false) }
        _ = await ending(.biometry)
        _ = await ending(.biometry)
        #expect(try monitor.check() == .unknown)
        #expect(try monitor.check().requiresPassword)
        simulator.enter(passcode: "1234")
        #expect(await ending(.owner) == nil)
        #expect(try monitor.check() == .unchanged)
    }

    @Test func afterForgetItIsAFirstRun() throws {
        try monitor.trustCurrent()
        try monitor.forget()
        #expect(try monitor.check() == .firstRun)
    }

    /// An app looks whenever its window becomes active, and the log is for what a person or a program did.
    @Test func aCheckReadsNoSecret() throws {
        try monitor.trustCurrent()
        #expect(try monitor.check() == .unchanged)
        try machine().enroll()
        #expect(try monitor.check() == .changed)
        let request = Request.Log(after: 0, limit: Limits.auditEntries, verifies: false)
        let log = try machine().client.call(request).lines
        #expect(log.contains { $0.event == .added } && !log.contains { $0.event == .used })
    }

    @Test func aLockedKeychainIsAnErrorAndNotAFirstRun() throws {
        try monitor.trustCurrent()
        try machine().lock()
        #expect(throws: KeychainError(status: errSecInteractionNotAllowed)) { try monitor.check() }
    }

    @Test func anUnreadableKeychainIsAnErrorAndNotAFirstRun() throws {
        try monitor.trustCurrent()
        try machine().failNext(.missingEntitlement)
        #expect(throws: KeychainError(status: errSecMissingEntitlement)) { try monitor.check() }
    }
}
