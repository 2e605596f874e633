// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A button whose title has a mnemonic: Alt and the underlined letter press it while the button is visible.
public final class MnemonicButton: Widget {
    /// Creates a button that calls `action` when it is pressed.
    ///
    /// - Parameter title: its text, with an underscore before the letter of the mnemonic.
    public init(_ title: String, styles: [String] = [], _ action: @escaping @MainActor () -> Void) {
        super.init(gtk_button_new())
        // The label has no mnemonic widget, so that it presses the button around it, and GTK does not add its text to
        // the accessible name.
        let label: UnsafeMutablePointer<GtkWidget> = gtk_label_new_with_mnemonic(title)
        Button.wrap(OpaquePointer(label))
        gtk_button_set_child(raw.assumingMemoryBound(to: GtkButton.self), label)
        setAccessibleName(String(title.filter { $0 != "_" }))
        for style in styles { setStyle(style) }
        connect(raw, "clicked", action)
    }
}
