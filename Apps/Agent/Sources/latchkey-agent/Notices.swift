// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeyDesktop
import Synchronization
import Widgets

/// Tells the desktop of what a person should learn at once: a lockout, changed fingers, an item that a program read for the
/// first time.
///
/// The audit log is read after each prompt, which all of these are the end of, and not in between: an idle session stays
/// idle.
enum Notices {
    private static let queue = DispatchQueue(label: "latchkey-agent.notices")
    /// The newest entry that was read; nil before the first reading. Used on the queue only.
    private static let known = Mutex<Int64?>(nil)

    /// Reads what is new, and shows it. Returns at once.
    static func look() {
        queue.async {
            // What cannot be read now is found after the next prompt.
            guard let found = ActivityNews.read(after: known.withLock { $0 }) else { return }
            known.withLock { $0 = found.newest }
            for notice in found.notices {
                DispatchQueue.main.async { Notification.show(notice.title, notice.body, icon: "org.latchkey.Agent") }
            }
        }
    }
}
