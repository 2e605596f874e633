// SPDX-License-Identifier: Apache-2.0

/// A way in which the user can authenticate.
package enum AuthenticationMethod: UInt8, CaseIterable, Hashable, Sendable {
    case biometry = 1
    case passcode = 2
}

/// The kind of sensor of a machine. Raw values are those of Apple's `LABiometryType`.
public enum BiometryKind: UInt8, CaseIterable, Sendable {
    /// There is no sensor.
    case none = 0
    /// A fingerprint reader.
    case touchID = 1
    /// A camera that recognises faces.
    case faceID = 2
    /// A camera that recognises eyes.
    case opticID = 4

    /// Failed tries within one evaluation before the sensor stops (behaviour LA-27).
    package var triesPerEvaluation: Int { self == .touchID ? 3 : 2 }
    /// Failed tries after which the fallback button is shown (behaviour LA-25).
    package var triesBeforeFallback: Int { self == .touchID ? 1 : 2 }
}

/// An authentication policy. Raw values are those of Apple's `LAPolicy`.
package enum Policy: UInt8, CaseIterable, Sendable {
    case deviceOwnerAuthenticationWithBiometrics = 1
    case deviceOwnerAuthentication = 2
    case deviceOwnerAuthenticationWithCompanion = 3
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    case deviceOwnerAuthenticationWithWristDetection = 5

    package var plan: AuthenticationPlan {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: AuthenticationPlan([[.biometry]])
        case .deviceOwnerAuthentication: AuthenticationPlan([[.biometry, .passcode]])
        case .deviceOwnerAuthenticationWithBiometricsOrCompanion: AuthenticationPlan([[.biometry]])
        // No device can be paired on Linux, and only a watch can detect that it is worn: no method completes the stage.
        case .deviceOwnerAuthenticationWithCompanion, .deviceOwnerAuthenticationWithWristDetection:
            AuthenticationPlan([[]])
        }
    }
}

/// The stages of an authentication, completed in order; any one method of a stage completes it.
package struct AuthenticationPlan: Hashable, Sendable {
    /// The stages; empty if no proof is required.
    package var stages: [Set<AuthenticationMethod>]

    package init(_ stages: [Set<AuthenticationMethod>]) { self.stages = stages }

    /// Returns the plan with a passcode stage first, unless a stage already accepts only the passcode.
    ///
    /// Other stages that accept the passcode are dropped, since the first stage completes them. Used while the daemon
    /// does not hold the key that is derived from the passcode.
    package func requiringPasscode() -> AuthenticationPlan {
        if stages.contains([.passcode]) { return self }
        let rest = stages.filter { !$0.contains(.passcode) }
        return AuthenticationPlan([[.passcode]] + rest)
    }
}

/// Identifies the enrolment set of a sensor: an opaque random value that changes with every enrolment change.
package struct EnrolmentSet: Hashable, Sendable {
    /// Maximum bytes of a set.
    package static let maximumBytes = 64
    package let bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// The state of the biometric sensor.
package struct SensorState: Hashable, Sendable {
    /// The kind of sensor; `none` if no sensor is connected.
    package var kind: BiometryKind
    /// The enrolment set; nil if no finger or face is enrolled.
    package var enrolment: EnrolmentSet?
    /// Whether changes of the enrolment set can be detected, which `biometryCurrentSet` requires.
    package var reportsEnrolmentChanges: Bool
    /// Whether a match only answers a policy: it releases no item and no key, and the user starts each scan by a key.
    package var isWeak: Bool
    /// Whether the sensor is a program. The user who controls that program decides what matches.
    package var isVirtual: Bool

    package init(
        kind: BiometryKind, enrolment: EnrolmentSet? = nil, reportsEnrolmentChanges: Bool = true, isWeak: Bool = false,
        isVirtual: Bool = false
    ) {
        self.kind = kind
        self.enrolment = enrolment
        self.reportsEnrolmentChanges = reportsEnrolmentChanges
        self.isWeak = isWeak
        self.isVirtual = isVirtual
    }

    /// The state without a sensor.
    package static let absent = SensorState(kind: .none)
}

/// Identifies a context of a caller: 128 random bits, valid only on the connection that created it.
package struct ContextHandle: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// Creates a handle from 16 bytes, most significant first; nil for any other length.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The handle as 16 bytes, most significant first.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) } }
    }
}

/// The part of the policy state that is durable: failure counters, passcode delay and times of the last successes.
package struct PolicyCounters: Hashable, Sendable {
    /// Consecutive failed matches, across evaluations and apps; five lock biometry (behaviour LA-28).
    package var biometryFailures: Int
    /// Consecutive wrong passcodes.
    package var passcodeFailures: Int
    /// Until when no passcode is accepted (behaviour LA-30), in nanoseconds of the boot-time clock; 0 if entry is not
    /// delayed.
    package var passcodeBlockedUntil: Int64
    /// When a correct passcode was last entered, in nanoseconds of the boot-time clock; nil if not since the machine
    /// started, so that the passcode is required before biometry.
    package var lastPasscode: Int64?
    /// When biometry last matched, in nanoseconds of the boot-time clock; nil if not since the machine started.
    package var lastBiometry: Int64?

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
