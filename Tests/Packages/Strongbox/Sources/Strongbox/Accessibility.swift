// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
import Security

/// When an item can be read.
public enum Accessibility: CaseIterable {
    /// While the device is unlocked.
    case whenUnlocked
    /// After the first unlock.
    case afterFirstUnlock
    /// While the device is unlocked, and there is a passcode.
    case whenPasscodeSetThisDeviceOnly

    /// The keychain's name for it.
    public var rawValue: CFString {
        switch self {
        case .whenUnlocked: return kSecAttrAccessibleWhenUnlocked
        case .afterFirstUnlock: return kSecAttrAccessibleAfterFirstUnlock
        case .whenPasscodeSetThisDeviceOnly: return kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
        }
    }
}

/// The authentication that reading an item requires.
public enum Protection {
    /// Biometry or the passcode.
    case userPresence
    /// A finger or face.
    case biometry

    func makeAccessControl(_ accessibility: Accessibility) throws -> SecAccessControl {
        let flags: SecAccessControlCreateFlags = self == .biometry ? .biometryAny : .userPresence
        var error: Unmanaged<CFError>?
        let made = SecAccessControlCreateWithFlags(kCFAllocatorDefault, accessibility.rawValue, flags, &error)
        guard let made else {
            guard let error = error?.takeRetainedValue() else { throw StrongboxError(status: errSecParam) }
            throw error as Error
        }
        return made
    }
}
#else
#error("Strongbox needs the Security framework")
#endif
