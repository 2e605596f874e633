// SPDX-License-Identifier: Apache-2.0

extension AccessControl {
    /// The exact combinations of constraints with which an item may be exported: another machine can enforce each of
    /// them, and none is bound to the fingers enrolled on this one.
    private static let portableConstraints: [AccessConstraints] = [
        [], .userPresence, .devicePasscode, [.devicePasscode, .companion, .or], [.biometryAny, .devicePasscode, .or],
    ]

    /// Returns why an item with this access control cannot be exported; nil when it can.
    package func skipReason(isInToken: Bool) -> SkipReason? {
        if isInToken { return .inToken }
        if accessibility.isThisDeviceOnly { return .thisDeviceOnly }
        if constraints.contains(.applicationPassword) { return .applicationPassword }
        return Self.portableConstraints.contains(constraints) ? nil : .boundRule
    }
}
