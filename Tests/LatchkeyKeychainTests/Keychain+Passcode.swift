// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel

// Passwords as text: tests stretch them on their own thread.

extension Keychain {
    /// An app's own password, stretched to add an item with that rule.
    func appPassword(_ plain: SecretBytes, toAdd control: AccessControl) throws(Failure) -> AppPassword {
        var password = try appPassword(isGiven: true)
        for parameters in try stretchingToAdd(control, password) {
            password.add(try StretchedPassword(plain, parameters))
        }
        return password
    }
}
