// SPDX-License-Identifier: Apache-2.0

/// Whether the device is locked, and since when not: what decides which classes of items can be read.
package struct LockState: Hashable, Sendable {
    /// Whether it is locked now.
    package var isLocked: Bool
    /// Whether it was unlocked since the machine started.
    package var wasUnlocked: Bool

    /// A machine that nobody locks counts as unlocked from its start.
    package init(isLocked: Bool = false, wasUnlocked: Bool = true) {
        self.isLocked = isLocked
        self.wasUnlocked = wasUnlocked
    }

    /// Whether items of the class can be read and written (Apple: `kSecAttrAccessible...`).
    package func allows(_ accessibility: Accessibility) -> Bool {
        switch accessibility {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: !isLocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: wasUnlocked
        case .always, .alwaysThisDeviceOnly: true
        }
    }
}
