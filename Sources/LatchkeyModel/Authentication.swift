// SPDX-License-Identifier: Apache-2.0

/// What a person can prove.
package enum AuthenticationMethod: UInt8, CaseIterable, Hashable, Sendable {
    case biometry = 1
    case passcode = 2
    case companion = 3
}

/// The kind of sensor; raw values are Apple's (`LABiometryType`).
package enum BiometryKind: UInt8, CaseIterable, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    case opticID = 4

    /// Failed tries within one evaluation before the sensor stops (behaviour LA-27).
    package var triesPerEvaluation: Int { self == .touchID ? 3 : 2 }
    /// Failed tries after which the fallback button is shown (behaviour LA-25).
    package var triesBeforeFallback: Int { self == .touchID ? 1 : 2 }
}

/// The policies of `LAPolicy`; raw values are Apple's.
package enum Policy: UInt8, CaseIterable, Sendable {
    case deviceOwnerAuthenticationWithBiometrics = 1
    case deviceOwnerAuthentication = 2
    case deviceOwnerAuthenticationWithCompanion = 3
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    case deviceOwnerAuthenticationWithWristDetection = 5

    /// What has to be proven.
    package var plan: AuthenticationPlan {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: AuthenticationPlan([[.biometry]])
        case .deviceOwnerAuthentication: AuthenticationPlan([[.biometry, .passcode]])
        case .deviceOwnerAuthenticationWithCompanion: AuthenticationPlan([[.companion]])
        case .deviceOwnerAuthenticationWithBiometricsOrCompanion: AuthenticationPlan([[.biometry, .companion]])
        // Only a watch knows that it is worn: a stage that nothing can meet.
        case .deviceOwnerAuthenticationWithWristDetection: AuthenticationPlan([[]])
        }
    }
}

/// Stages a person passes one after another; in each, any one of its methods will do.
package struct AuthenticationPlan: Hashable, Sendable {
    /// The stages; empty means nothing has to be proven.
    package var stages: [Set<AuthenticationMethod>]

    /// Makes a plan.
    package init(_ stages: [Set<AuthenticationMethod>]) { self.stages = stages }

    /// The same plan with the passcode asked first, unless a stage already accepts nothing else.
    ///
    /// A daemon that has not seen the passcode since its start needs it to derive keys.
    package func requiringPasscode() -> AuthenticationPlan {
        if stages.contains([.passcode]) { return self }
        let rest = stages.filter { !$0.contains(.passcode) }
        return AuthenticationPlan([[.passcode]] + rest)
    }
}

/// The enrolled fingers or faces as one opaque, random value that changes with every enrolment change.
package struct EnrolmentSet: Hashable, Sendable {
    package let bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// What is known of the sensor.
package struct SensorState: Hashable, Sendable {
    /// What it is.
    package var kind: BiometryKind
    /// The enrolled set; nil when nothing is enrolled.
    package var enrolment: EnrolmentSet?
    /// Whether the machine can tell when the enrolled set changes, so that `biometryCurrentSet` can be kept.
    package var reportsEnrolmentChanges: Bool

    /// Makes a state.
    package init(kind: BiometryKind, enrolment: EnrolmentSet? = nil, reportsEnrolmentChanges: Bool = true) {
        self.kind = kind
        self.enrolment = enrolment
        self.reportsEnrolmentChanges = reportsEnrolmentChanges
    }

    /// No sensor.
    package static let absent = SensorState(kind: .none)
}

/// A context of a caller: 128 random bits, meaningful only on the connection that made it.
package struct ContextHandle: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// Makes a handle from 16 bytes, most significant first.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 16 bytes, most significant first.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) } }
    }
}

/// The counters that are kept in the store.
package struct PolicyCounters: Hashable, Sendable {
    package var biometryFailures: Int
    package var passcodeFailures: Int
    /// Nanoseconds of the boot clock.
    package var passcodeBlockedUntil: Int64
    /// When the passcode was last right, and when biometry was, on the boot clock; nil: not in this boot.
    package var lastPasscode: Int64?
    package var lastBiometry: Int64?

    /// Makes counters.
    package init(
        biometryFailures: Int, passcodeFailures: Int, passcodeBlockedUntil: Int64, lastPasscode: Int64? = 0,
        lastBiometry: Int64? = nil
    ) {
        self.lastPasscode = lastPasscode
        self.lastBiometry = lastBiometry
        self.biometryFailures = biometryFailures
        self.passcodeFailures = passcodeFailures
        self.passcodeBlockedUntil = passcodeBlockedUntil
    }
}
