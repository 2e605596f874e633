// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The words of `--protect`, and the same words where a rule is shown.
extension AccessControl {
    private static let byName: [(name: String, constraints: AccessConstraints)] = [
        ("presence", .userPresence), ("biometry", .biometryAny), ("current-set", .biometryCurrentSet),
        ("passcode", .devicePasscode),
    ]

    static let protectionNames = ["none"] + byName.map(\.name)

    /// The rule of that name; without a name none.
    init(protection name: String?) throws(CommandFailure) {
        guard let name, name != "none" else {
            self.init()
            return
        }
        guard let known = AccessControl.byName.first(where: { $0.name == name }) else {
            throw .usage("unknown protection \(name)", "Use none, presence, biometry, current-set or passcode.")
        }
        self.init(accessibility: .whenPasscodeSetThisDeviceOnly, constraints: known.constraints)
    }

    /// What releases the item.
    var protection: String {
        AccessControl.byName.first { constraints.contains($0.constraints) }?.name ?? "none"
    }
}
