// SPDX-License-Identifier: Apache-2.0

/// The lock state of the device, which decides the accessibility classes that can be read.
package struct LockState: Hashable, Sendable {
    /// Whether the device is locked now.
    package var isLocked: Bool
    /// Whether the device has been unlocked since it started.
    package var wasUnlocked: Bool

    /// Creates a state; by default unlocked since the start, as on a machine without a lock.
    package init(isLocked: Bool = false, wasUnlocked: Bool = true) {
        (self.isLocked, self.wasUnlocked) = (isLocked, wasUnlocked)
    }

    /// Returns whether items of the accessibility class can be read and written (Apple: `kSecAttrAccessible...`).
    package func allows(_ accessibility: Accessibility) -> Bool {
        switch accessibility {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: !isLocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: wasUnlocked
        case .always, .alwaysThisDeviceOnly: true
        }
    }
}
