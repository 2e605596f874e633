// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel

// Passwords as text, stretched on the test's thread.

extension Keychain {
    /// Returns an application password, stretched for adding an item with that access control.
    func appPassword(_ plain: SecretBytes, toAdd control: AccessControl) throws(Failure) -> AppPassword {
        var password = try appPassword(isGiven: true)
        for parameters in try stretchingToAdd(control, password) {
            password.add(try StretchedPassword(plain, parameters))
        }
        return password
    }
}

extension Keychain {
    /// Seals all items that were added before the passcode was set.
    func sealForPasscode() throws(Failure) {
        var position: Int64? = .min
        while let after = position {
            position = try sealForPasscode(after: after) { _ in false }
        }
    }
}
