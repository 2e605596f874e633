// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A message that the desktop shows beside its windows (freedesktop.org, "Desktop Notifications Specification").
@MainActor public enum Notification {
    /// Shows a message. Does nothing on a desktop that shows none.
    ///
    /// - Parameters:
    ///   - title: plain text.
    ///   - body: a text of this program: desktops may read it as markup.
    ///   - icon: the name of an icon.
    public static func show(_ title: String, _ body: String, icon: String) { latchkey_notify(title, body, icon) }
}
