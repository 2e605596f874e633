// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// The values of `--protect`, which also name an access control in tables.
extension AccessControl {
    private static let byName: [(name: String, constraints: AccessConstraints)] = [
        ("presence", .userPresence), ("biometry", .biometryAny), ("current-set", .biometryCurrentSet),
        ("passcode", .devicePasscode),
    ]

    static let protectionNames = ["none"] + byName.map(\.name)

    /// The access control of that name; without a name one without constraints.
    ///
    /// Presence and passcode can be required on another machine too, so they use a class that backups contain, unless
    /// `staysHere` is true. The others are bound to the enrolment set of this machine.
    init(protection name: String?, staysHere: Bool) throws(CommandFailure) {
        guard let name, name != "none" else {
            self.init(accessibility: staysHere ? .whenUnlockedThisDeviceOnly : .whenUnlocked)
            return
        }
        guard let known = AccessControl.byName.first(where: { $0.name == name }) else {
            let nearest = Suggestion.nearest(name, AccessControl.protectionNames)
            throw .usage(
                "unknown protection \(name)",
                """
                \(nearest.map { localized("Did you mean \($0)?") + " " } ?? "")\
                \(localized("Use none, presence, biometry, current-set or passcode."))
                """)
        }
        let isPortable = [.userPresence, .devicePasscode].contains(known.constraints)
        self.init(
            accessibility: isPortable && !staysHere ? .whenUnlocked : .whenPasscodeSetThisDeviceOnly,
            constraints: known.constraints)
    }

    var protection: String { AccessControl.byName.first { constraints.contains($0.constraints) }?.name ?? "none" }

    /// Throws, before anything is read or made, the errors that the daemon would report afterwards.
    func checkIsPossible(_ report: StatusReport) throws(Failure) {
        guard isProtected else { return }
        guard report.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "No passcode is set, and --protect \(protection) needs one.",
                hint: "Set one with: latchkey passcode set")
        }
        guard !constraints.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) else { return }
        guard report.biometry != .none else {
            throw Failure(
                .biometryNotAvailable, "--protect \(protection) needs a sensor, and there is none.",
                hint: "Use --protect presence; for the sensors that are found see: latchkey doctor")
        }
        guard report.isEnrolled else {
            throw Failure(
                .biometryNotEnrolled, "Nothing is enrolled with the sensor, and --protect \(protection) needs it.",
                hint: "Enroll a finger or a face first, or use --protect presence.")
        }
    }
}
