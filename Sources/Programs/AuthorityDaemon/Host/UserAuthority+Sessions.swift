// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

// The login sessions of the user.

extension UserAuthority {
    /// Applies a change of the sessions, on the user's work queue: it waits for latchkeyd.
    func apply(_ change: SessionEvent.Change, _ done: @escaping @Sendable () -> Void) {
        sessions.apply(change) { [self] in
            sendState()
            done()
        }
    }
}
