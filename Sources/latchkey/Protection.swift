// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// The words of `--protect`, and the same words where a rule is shown.
extension AccessControl {
    private static let byName: [(name: String, constraints: AccessConstraints)] = [
        ("presence", .userPresence), ("biometry", .biometryAny), ("current-set", .biometryCurrentSet),
        ("passcode", .devicePasscode),
    ]

    static let protectionNames = ["none"] + byName.map(\.name)

    /// The rule of that name; without a name none.
    ///
    /// A rule that another machine can ask for as well goes with a class that a backup holds, unless the item is to stay.
    /// The others are bound to the fingers enrolled here.
    init(protection name: String?, staysHere: Bool) throws(CommandFailure) {
        guard let name, name != "none" else {
            self.init(accessibility: staysHere ? .whenUnlockedThisDeviceOnly : .whenUnlocked)
            return
        }
        guard let known = AccessControl.byName.first(where: { $0.name == name }) else {
            throw .usage(
                "unknown protection \(name)",
                (Suggestion.nearest(name, AccessControl.protectionNames).map { "Did you mean \($0)? " } ?? "")
                    + "Use none, presence, biometry, current-set or passcode.")
        }
        let isPortable = [.userPresence, .devicePasscode].contains(known.constraints)
        self.init(
            accessibility: isPortable && !staysHere ? .whenUnlocked : .whenPasscodeSetThisDeviceOnly,
            constraints: known.constraints)
    }

    /// What releases the item.
    var protection: String {
        AccessControl.byName.first { constraints.contains($0.constraints) }?.name ?? "none"
    }

    /// Refuses, before anything is asked or made, what the daemon would refuse afterwards.
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
                .biometryNotAvailable, "There is no sensor that --protect \(protection) could ask.",
                hint: "Tier \(report.tier.name) has none here: use --protect presence, or a simulated machine.")
        }
        guard report.isEnrolled else {
            throw Failure(
                .biometryNotEnrolled, "Nothing is enrolled with the sensor, and --protect \(protection) asks for it.",
                hint: "Enrol a finger or a face first, or use --protect presence.")
        }
    }
}
