// SPDX-License-Identifier: Apache-2.0

/// What an authority knows about its user and the device, without the evaluations under way. `PolicyState` has it as a
/// part, and `latchkey-authd` sends that part to latchkeyd whenever it changes.
///
/// All times are nanoseconds of the boot-time clock.
package struct AuthorityState: Hashable, Sendable {
    package var sensor: SensorState
    package var isPasscodeSet: Bool
    package var counters: PolicyCounters
    /// Whether the device is locked, so that only prompts that unlock it are shown.
    package var isLocked: Bool
    /// Whether the apps are in the background, so that no prompts are shown.
    package var isInBackground: Bool
    /// When the device was last unlocked by biometry; nil if it was locked since or was unlocked by other means, or if the
    /// enrolment set or `SensorState.isVirtual` changed since.
    package var biometricUnlock: Int64?
    /// The user's decision, by app, whether the app may use Face ID (behaviour LA-07); an app without an entry asks.
    package var facePermissions: [String: Bool]
    package var biometrySessions: BiometrySessions

    package init(
        sensor: SensorState, isPasscodeSet: Bool,
        counters: PolicyCounters = PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0),
        isLocked: Bool = false, isInBackground: Bool = false, biometricUnlock: Int64? = nil,
        facePermissions: [String: Bool] = [:], biometrySessions: BiometrySessions = .every
    ) {
        self.sensor = sensor
        self.isPasscodeSet = isPasscodeSet
        self.counters = counters
        self.isLocked = isLocked
        self.isInBackground = isInBackground
        self.biometricUnlock = biometricUnlock
        self.facePermissions = facePermissions
        self.biometrySessions = biometrySessions
    }
}
