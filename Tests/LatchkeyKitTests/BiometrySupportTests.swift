// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Testing

@Suite struct BiometrySupportTests {
    private var support: BiometrySupport { BiometricAuth().supportedBiometry }

    @Test(.simulator(sensor: .touchID)) func aFingerIsAvailable() { #expect(support == .available(.touchID)) }

    @Test(.simulator(sensor: .faceID)) func aFaceIsAvailable() { #expect(support == .available(.faceID)) }

    @Test(.simulator(sensor: .opticID)) func anEyeIsAvailable() { #expect(support == .available(.opticID)) }

    @Test(.simulator(sensor: .none)) func withoutASensorThereIsNone() {
        #expect(support == .none)
        #expect(support.sensor == nil)
    }

    @Test(.simulator(sensor: .faceID, isEnrolled: false)) func withNothingEnrolledTheKindIsReported() {
        #expect(support == .notEnrolled(.faceID))
        #expect(support.sensor == .faceID)
        #expect(support.biometry == nil)
    }

    @Test(.simulator(sensor: .touchID, passcode: nil)) func withoutAPasscodeTheKindIsReported() {
        #expect(support == .notAvailable(.touchID))
    }

    @Test(.simulator(sensor: .faceID)) func withoutPermissionTheKindIsReported_LA07() throws {
        try machine().setFaceIDPermission(.denied)
        #expect(support == .notAvailable(.faceID))
    }

    @Test(.simulator()) func theKindIsReportedDuringALockoutWhichThePasscodeEnds() async throws {
        for _ in 0..<5 { try machine().touch(matching: false) }
        _ = await ending(.biometry)
        _ = await ending(.biometry)
        #expect(support == .lockedOut(.touchID))
        try machine().enter(passcode: "1234")
        #expect(await ending(.owner) == nil)
        #expect(support == .available(.touchID))
    }

    @Test func anUnknownSensorCountsAsNone() {
        #expect(BiometrySupport(asking: ScriptedBiometry(biometryType: .none, obstacle: .biometryLockout)) == .none)
    }

    @Test(arguments: Biometry.allCases) func textsNameOnlyTheSensorOfTheDevice(kind: Biometry) {
        let others = Biometry.allCases.filter { $0 != kind }.map(\.name)
        let values: [BiometrySupport] = [.available(kind), .lockedOut(kind), .notEnrolled(kind), .notAvailable(kind)]
        for words in values.compactMap(\.explanation) + [kind.immediateScanWarning].compactMap({ $0 }) {
            #expect(words.contains(kind.name))
            #expect(others.allSatisfy { !words.contains($0) })
        }
        #expect(kind.symbolName == kind.rawValue.lowercased())
    }

    /// Readers on Linux are not Apple's.
    @Test func aFingerIsNamedFingerprintOnLinux() {
        #if os(Linux)
        #expect(Biometry.touchID.name == "Fingerprint")
        #else
        #expect(Biometry.touchID.name == "Touch ID")
        #endif
    }

    @Test func onlyAFingerDoesNotScanAtOnce() {
        #expect(Biometry.touchID.immediateScanWarning == nil)
        #expect(Biometry.faceID.immediateScanWarning != nil)
        #expect(Biometry.opticID.immediateScanWarning != nil)
    }
}
