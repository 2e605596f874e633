// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy

/// The events of the enumeration: evaluations 1 and 2, enrolment sets A and B, two kinds of sensor, and times so far
/// apart that every delay is over at the next time.
struct Alphabet {
    let times: [Int64]

    /// Creates an alphabet with that many times with `LATCHKEY_TESTS=all`, and with one less otherwise.
    static func thorough(times: Int64) -> Alphabet {
        let isThorough = ["all", "end"].contains(ProcessInfo.processInfo.environment["LATCHKEY_TESTS"])
        return Alphabet(times: isThorough ? times : times - 1)
    }

    /// Creates an alphabet with that many times.
    init(times: Int64) { self.times = (0..<times).map { $0 * 1_000_000 * 1_000_000_000 } }

    static let sensors: [SensorState] = [.touch, .touchB, .touchEmpty, .face, .absent]

    /// The events that prompt, sensor and store may report for an evaluation.
    func reports(_ id: UInt64) -> [PolicyEvent] {
        [
            .promptVisible(id), .promptUnavailable(id), .promptLost(id), .matched(id, .a), .matched(id, .b),
            .notMatched(id), .sensorFailed(id), .sensorDisconnected(id), .fallbackChosen(id), .cancelChosen(id),
            .withdrawn(id, .appCancel), .withdrawn(id, .systemCancel), .deadlinePassed(id),
            .permissionAnswered(id, true), .permissionAnswered(id, false), .codeAcknowledged(id), .codeEntered(id),
            .newPasscodeEntered(id, isLongEnough: true), .newPasscodeEntered(id, isLongEnough: false),
            .newPasscodeRepeated(id, isEqual: true), .newPasscodeRepeated(id, isEqual: false),
        ]
            + [
                .passcodeChecked(id, isRight: true), .passcodeChecked(id, isRight: false), .passcodeRepeated(id),
                .passcodeNotChecked(id, .storeUnreadable), .countersStored(id), .countersNotStored(id, .diskFull),
            ]
            + times.flatMap { [.passcodeEntered(id, at: $0), .delayPassed(id, at: $0)] }
    }

    /// The events of the verification of an account's password.
    func accountReports(_ id: UInt64) -> [PolicyEvent] {
        AccountFault.allCases.map { .accountNotProven(id, $0) }
            + [.accountProven(id), .passcodeOutdated(id), .accountMessage(id), .accountExpired(id)]
    }

    /// The events of an evaluation that change what evaluations of several sessions share.
    func sharedReports(_ id: UInt64) -> [PolicyEvent] {
        [
            .promptVisible(id), .promptLost(id), .matched(id, .a), .notMatched(id), .sensorFailed(id),
            .fallbackChosen(id), .cancelChosen(id), .deadlinePassed(id), .passcodeChecked(id, isRight: true),
            .passcodeChecked(id, isRight: false), .passcodeNotChecked(id, .storeUnreadable),
            .passcodeNotVerified(id, .vaultUnavailable), .countersStored(id), .countersNotStored(id, .diskFull),
            .passcodeEntered(id, at: 0), .delayPassed(id, at: 0),
        ]
    }

    /// The events of several sessions that do not belong to an evaluation.
    var sharedSurroundings: [PolicyEvent] {
        [.sensorChanged(.touch), .sensorChanged(.absent), .passcodeWasRight, .passcodeExists(true)]
    }

    /// The events that do not belong to an evaluation.
    var surroundings: [PolicyEvent] {
        Self.sensors.map { .sensorChanged($0) }
            + [.passcodeExists(true), .passcodeExists(false), .permissionChanged("a", nil)]
            + [.passcodeWasRight]
    }

    /// The evaluations that a caller may request.
    func wishes(_ id: UInt64) -> [PolicyEvent] {
        AuthenticationPlan.all.flatMap { plan in
            [(true, true), (false, true), (true, false)].map { fallback, interaction in
                .evaluate(
                    .init(
                        id: id, plan: plan, allowsFallback: fallback, interactionAllowed: interaction, faceUser: "a"))
            }
        }
            + [AuthenticationPlan.nothing, .passcode].map { plan in
                .evaluate(
                    .init(
                        id: id, plan: plan, allowsFallback: true, interactionAllowed: true, purpose: .exportItems,
                        lastStep: .showsRecoveryCode))
            }
    }

    /// Returns the numbers of shown and waiting evaluations, which must not be requested again.
    func busy(_ state: PolicyState) -> Set<UInt64> {
        Set(state.waiting.map(\.id) + state.active.map(\.request.id))
    }
}

extension PolicyEvent {
    /// A request of a program of a login session.
    static func wish(_ id: UInt64, _ plan: AuthenticationPlan, session: String) -> PolicyEvent {
        .evaluate(
            .init(
                id: id, plan: plan, allowsFallback: true, interactionAllowed: true, faceUser: "a", program: id,
                place: PromptPlace(session: session)))
    }
}
