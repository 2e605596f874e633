// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// lock, unlock: locks or unlocks the keychain of this user.
enum Lock {
    static func run(_ request: Request, _ options: Options) throws(CommandFailure) {
        do throws(Failure) {
            _ = try Client.command.call(request)
        } catch {
            throw .failure(error)
        }
        let isLocked = request == .lock
        Output.write(
            options.isJSON
                ? JSON.object([("locked", .boolean(isLocked))]).line + "\n"
                : (isLocked ? localized("The keychain is locked.") : localized("The keychain is unlocked.")) + "\n")
    }
}
