// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// lock, unlock: locks or unlocks the keychain of this user.
enum Lock {
    static func run(locks isLocked: Bool, _ options: Options) throws(CommandFailure) {
        try failing { () throws(Failure) in
            if isLocked {
                try Client.command.call(Request.Lock())
            } else {
                try Client.command.call(Request.Unlock(Prompting()))
            }
        }
        Output.write(
            options.isJSON
                ? JSON.object([("locked", .boolean(isLocked))]).line + "\n"
                : (isLocked ? localized("The keychain is locked.") : localized("The keychain is unlocked.")) + "\n")
    }
}
