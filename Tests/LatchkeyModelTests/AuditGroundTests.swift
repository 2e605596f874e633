// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

/// The numbers of grounds are part of the store format.
@Suite struct AuditGroundTests {
    @Test func everyNumberIsOneGroundOrNone() {
        for number in 0...UInt8.max {
            let ground = AuditGround(rawValue: number)
            let isKnown =
                number < 128 + UInt8(RefusalReason.allCases.count) || (193...196).contains(number)
            #expect(ground.map(\.rawValue) == (isKnown ? number : nil))
        }
    }

    @Test func grantsAndRefusalsHaveFixedNumbers() {
        #expect(AuditGround.allowed([]).rawValue == 0)
        #expect(UseGrounds.each.map { AuditGround.allowed($0).rawValue } == [1, 2, 4, 8, 16, 32, 64])
        #expect(AuditGround.allowed([.finger, .always]).rawValue == 33)
        #expect(AuditGround.refused(.cancelled).rawValue == 129 && AuditGround.refused(.ended).rawValue == 140)
    }

    @Test func triesHaveFixedNumbers() {
        let proofs: [TriedProof] = [.finger, .face, .passcode, .accountPassword]
        #expect(proofs.map { AuditGround.failed($0).rawValue } == [193, 194, 195, 196])
        #expect(TriedProof.allCases == proofs)
        #expect(BiometryKind.allCases.map { TriedProof($0) } == [.face, .finger, .face, .face])
    }

    @Test(arguments: [
        (Status.userCancel, RefusalReason.cancelled), (.interrupted, .cancelled), (.promptDelayed, .cancelled),
        (.userFallback, .fallback),
        (.authenticationFailed, .notRecognized), (.biometryLockout, .lockedOut), (.passcodeDelayed, .lockedOut),
        (.notInteractive, .noPrompt), (.passcodeNotSet, .notSetUp), (.biometryNotEnrolled, .notSetUp),
        (.missingEntitlement, .otherApp), (.appCancel, .ended), (.systemCancel, .ended), (.diskFull, .other),
    ])
    func aStatusGivesAReason(_ status: Status, _ reason: RefusalReason) {
        #expect(RefusalReason(status) == reason)
    }
}
