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
