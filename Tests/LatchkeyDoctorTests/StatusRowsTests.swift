// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyDesktop

@Suite struct StatusRowsTests {
    private static let sound = StatusReport.sound

    @Test func soundDaemonNeedsNoAttention() {
        for row in [
            DoctorRow.memory(Self.sound, isSystem: false), .passcode(Self.sound), .sensor(Self.sound),
            .enclave(Self.sound, isSystem: false, configuration: "/c"),
        ] {
            #expect(row.state == .ok && row.hint == nil, "\(row)")
        }
    }

    @Test func withoutDaemonItsFactsAreNotKnown() {
        for row in [
            DoctorRow.memory(nil, isSystem: true), .passcode(nil), .sensor(nil),
            .enclave(nil, isSystem: false, configuration: "/c"),
        ] {
            #expect(row.state == .absent && row.found.hasPrefix("not known"), "\(row)")
        }
    }

    @Test func unlockedMemoryNeedsAnotherLimit() {
        let report = Self.sound.with(\.unlockedMemory, "The kernel refuses.")
        let own = DoctorRow.memory(report, isSystem: false, limits: LockLimits(soft: 0, hard: 8 << 20))
        #expect(own.state == .attention && own.found.hasSuffix("The kernel refuses."))
        #expect(own.hint == .init("ulimit -S -l 8192 && latchkey restart"))
        let low = DoctorRow.memory(report, isSystem: false, limits: LockLimits(soft: 0, hard: 4096))
        #expect(low.hint == .init("prlimit --memlock=8388608:8388608 --pid $$ && latchkey restart", needsRoot: true))
        let system = DoctorRow.memory(report, isSystem: true)
        #expect(system.hint?.command == "systemctl revert latchkeyd && systemctl restart latchkeyd")
    }

    @Test func theWritesToTheTPMAreThoseOfTierTPM() {
        #expect(DoctorRow.trustedModuleWrites(nil).found.hasPrefix("not known"))
        #expect(DoctorRow.trustedModuleWrites(Self.sound.with(\.tier, .file)).state == .absent)
        let row = DoctorRow.trustedModuleWrites(Self.sound.with(\.tier, .tpm))
        #expect(row.state == .ok)
        #expect(row.found.contains("at most 24 a day") && row.found.contains("27 a day for 10 years"))
    }

    @Test func aProblemOfTheTPMIsNamedInPlaceOfItsKind() {
        let report = Self.sound.with(\.enclave, .tpm).with(\.enclaveDevice, .chip)
            .with(\.deviceProblem, Failure(.enclaveUnavailable, "The password is not the one of the owner."))
        let row = DoctorRow.enclave(report, isSystem: true, configuration: "/c")
        #expect(row.state == .attention && row.found == "The password is not the one of the owner.")
        #expect(row.hint == .init("systemctl restart latchkey-authd latchkeyd", needsRoot: true))
    }

    @Test func limitOfMemoryCountsBeforeTheDaemonStarts() {
        func row(_ soft: UInt64, isRoot: Bool) -> DoctorRow {
            .memory(nil, isSystem: false, limits: LockLimits(soft: soft, hard: .max), isRoot: isRoot)
        }
        #expect(row(65535, isRoot: false).state == .attention)
        #expect(row(65535, isRoot: false).hint == .init("ulimit -S -l 8192"))
        #expect(row(65536, isRoot: false).state == .ok)
        #expect(row(0, isRoot: true).state == .ok)
    }

    @Test func missingPasscodeIsSet() {
        let row = DoctorRow.passcode(Self.sound.with(\.isPasscodeSet, false))
        #expect(row.state == .attention && row.hint?.command == "latchkey passcode set")
    }

    @Test func aMachineWithoutAStoreHasNoPasscode() {
        let row = DoctorRow.passcode(nil, isNew: true)
        #expect(row == DoctorRow.passcode(Self.sound.with(\.isPasscodeSet, false)))
    }

    @Test func passcodeThatCanBeGuessedWithoutTheTPMSaysSo() {
        let own = Self.sound.with(\.isPasscodeSet, true).with(\.passcodeKind, .own)
        let account = own.with(\.passcodeKind, .account)
        #expect(DoctorRow.passcode(own.with(\.tier, .tpm)).found == "set")
        #expect(DoctorRow.passcode(account.with(\.tier, .tpm)).found.contains("as strong as /etc/shadow"))
        #expect(DoctorRow.passcode(account.with(\.tier, .file)).found == "set, the password of your account")
    }

    @Test func passcodeOfAnUnusableStoreIsNotKnown() {
        let report = Self.sound.with(\.isPasscodeSet, false).with(\.problem, Failure(.anchorOld))
        #expect(DoctorRow.passcode(report).state == .absent)
    }

    @Test func theSensorIsNamedWithItsFingers() {
        let records = [
            ["reader", "A reader", "press", "/0"], ["finger", "left-thumb"], ["finger", "right-thumb"],
            ["reader", "Another", "swipe", "/1"], ["other"], [],
        ]
        let facts = FingerFacts(FingerprintReader.readers(records))
        let first = FingerprintReader(name: "A reader", path: "/0", fingers: ["left-thumb", "right-thumb"])
        #expect(facts.readers == [first, FingerprintReader(name: "Another", isSwiped: true, path: "/1")])
        #expect(
            DoctorRow.sensor(Self.sound, facts).found
                == "touchID, enrolled on A reader: left-thumb, right-thumb; Another")
        let none = FingerFacts([FingerprintReader(name: "A reader")])
        let empty = DoctorRow.sensor(Self.sound.with(\.isEnrolled, false), none)
        #expect(empty.found == "touchID, nothing enrolled on A reader")
        #expect(FingerprintReader.readers([["finger", "left-thumb"]]).isEmpty, "a finger needs a reader")
    }

    @Test func aFingerWithoutAUsableSensorNeedsAttention() {
        let report = Self.sound.with(\.biometry, .none)
        let finger = FingerFacts([FingerprintReader(name: "A reader", fingers: ["left-thumb"])])
        let missed = DoctorRow.sensor(report, finger)
        #expect(missed.state == .attention && missed.found.contains("although a finger is enrolled"))
        #expect(DoctorRow.sensor(report, FingerFacts([FingerprintReader(name: "A reader")])).state == .absent)
        // What the sensor needs is optional only while no finger is enrolled.
        let program = DoctorRow.sensorProgram("/opt/x/latchkeyd", exists: false, isSystem: false)
        #expect(program.needed(by: missed).state == .attention && program.needed(by: missed).found == program.found)
        #expect(program.needed(by: DoctorRow.sensor(report)).state == .absent)
    }

    @Test func aVirtualSensorWorksAndNeedsAttention() {
        let virtual = Self.sound.with(\.isBiometryVirtual, true)
        let row = DoctorRow.sensor(virtual)
        #expect(row.state == .attention && row.isWeak)
        #expect(row.found == "touchID, enrolled, virtual: a program, which decides what it matches")
        // What cannot be used is not said to work.
        for unusable in [virtual.with(\.isEnrolled, false), virtual.with(\.isBiometryLocked, true)] {
            #expect(!DoctorRow.sensor(unusable).isWeak)
        }
    }

    @Test func sensorHasItsNextStep() {
        #expect(DoctorRow.sensor(Self.sound.with(\.biometry, .none)).state == .absent)
        let empty = Self.sound.with(\.isEnrolled, false)
        #expect(DoctorRow.sensor(empty).hint?.command == "latchkey fingerprint enroll")
        #expect(DoctorRow.sensor(empty.with(\.tier, .simulated)).hint?.command == "latchkey sim enroll")
        let locked = DoctorRow.sensor(Self.sound.with(\.isBiometryLocked, true))
        #expect(locked.state == .attention && locked.hint?.command == "latchkey passcode check")
    }

    @Test func enclaveIsConfiguredWhereItsDaemonReads() {
        let report = Self.sound.with(\.enclave, nil)
        let own = DoctorRow.enclave(report, isSystem: false, configuration: "/my store/c")
        #expect(own.state == .absent)
        #expect(own.hint == .init("echo 'enclave = software' >> '/my store/c' && latchkey restart"))
        let system = DoctorRow.enclave(report, isSystem: true, configuration: "/etc/c")
        #expect(
            system.hint == .init("echo 'enclave = software' >> /etc/c && systemctl restart latchkeyd", needsRoot: true))
    }

    @Test(
        arguments: [
            (EnclaveDevice?.some(.chip), DoctorRow.State.ok, "TPM 2.0"), (.program, .attention, "virtual"),
            (nil, .attention, "not known"),
        ])
    func enclaveOfATPMSaysWhetherItIsVirtual_abuse24(
        _ device: EnclaveDevice?, _ state: DoctorRow.State, _ words: String
    ) {
        let report = Self.sound.with(\.enclave, .tpm).with(\.enclaveDevice, device)
        let row = DoctorRow.enclave(report, isSystem: true, configuration: "")
        #expect(row.state == state && row.found.contains(words))
        // A TPM that does not answer may do so after a restart; no command makes a chip of a program.
        #expect((row.hint == nil) == (device != nil))
    }
}
