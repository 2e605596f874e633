// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension AccessControl {
    /// The constraints under which an item may leave the machine in a backup, each exactly as it stands: another machine
    /// asks for the same, and none of them is bound to the fingers enrolled here.
    private static let portableConstraints: [AccessConstraints] = [
        [], .userPresence, .devicePasscode, [.devicePasscode, .companion, .or], [.biometryAny, .devicePasscode, .or],
    ]

    /// Why an item of this rule stays; nil when it leaves.
    package func staying(isInToken: Bool) -> StayReason? {
        if isInToken { return .inToken }
        if accessibility.isThisDeviceOnly { return .thisDeviceOnly }
        if constraints.contains(.applicationPassword) { return .applicationPassword }
        return Self.portableConstraints.contains(constraints) ? nil : .boundRule
    }
}
