// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeyDesktop
import Synchronization
import Widgets

/// Tells the desktop of what a person should learn at once: a lockout, changed fingers, an item that a program read for the
/// first time, or could not read because the keychain is locked.
///
/// The audit log is read after each prompt, which most of these are the end of, and when the daemon says that there is news. It is
/// not read in between: an idle session stays idle.
enum Notices {
    private static let queue = DispatchQueue(label: "latchkey-agent.notices")
    /// The queue of the requests to unlock the keychain, each of which lasts until its prompt is answered.
    private static let unlocks = DispatchQueue(label: "latchkey-agent.unlocks")
    /// The newest entry that was read; nil before the first reading. Used on the queue only.
    private static let known = Mutex<Int64?>(nil)
    private static let icon = "org.latchkey.Agent"
    /// What is shown about the lock of the keychain, by its title: one message for each program.
    @MainActor private static var ofLock: [String: Notification] = [:]

    /// Reads what is new, and shows it. Returns at once.
    static func look() {
        queue.async {
            // What cannot be read now is found after the next prompt.
            guard let found = ActivityNews.read(after: known.withLock { $0 }) else { return }
            known.withLock { $0 = found.newest }
            DispatchQueue.main.async {
                if !found.isLocked { forgetLock() }
                for notice in found.notices { show(notice, isLocked: found.isLocked) }
            }
        }
    }

    @MainActor private static func show(_ notice: ActivityNotice, isLocked: Bool) {
        guard let action = notice.action else { return Notification.show(notice.title, notice.body, icon: icon) }
        // It was unlocked since, or the message is there.
        guard isLocked, ofLock[notice.title] == nil else { return }
        offer(notice.title, notice.body, action, of: notice.title)
    }

    /// Shows a message with a button that unlocks the keychain. If the user could not be asked, another message replaces it
    /// that says so.
    ///
    /// - Parameter place: the title of the notice that it is about.
    @MainActor private static func offer(_ title: String, _ body: String, _ action: String, of place: String) {
        ofLock[place]?.close()
        ofLock[place] = Notification.show(title, body, icon: icon, button: action) {
            unlocks.async {
                guard let problem = KeychainUnlock.start() else { return }
                DispatchQueue.main.async {
                    // It was unlocked since.
                    guard ofLock[place] != nil else { return }
                    offer(problem.title, problem.body, action, of: place)
                }
            }
        }
    }

    /// Takes away what was shown about the lock.
    @MainActor private static func forgetLock() {
        for notification in ofLock.values { notification.close() }
        ofLock = [:]
    }
}
