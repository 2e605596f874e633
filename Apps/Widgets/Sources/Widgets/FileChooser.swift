// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// The desktop's dialog for the name of a file.
@MainActor public enum FileChooser {
    /// The dialog that is shown; GTK requires its owner to keep a reference.
    private static var shown: OpaquePointer?

    /// Asks for a file, and calls `action` with the bytes of its path if the user chose one. An existing file that would be
    /// overwritten is confirmed by the dialog.
    ///
    /// - Parameters:
    ///   - title: the dialog's title.
    ///   - accept: the title of the button that accepts, with a mnemonic.
    ///   - decline: the title of the button that closes the dialog, with a mnemonic.
    ///   - newName: the proposed name of a new file; nil to choose an existing one.
    public static func ask(
        over parent: AppWindow, title: String, accept: String, decline: String, newName: String?,
        _ action: @escaping @MainActor ([UInt8]) -> Void
    ) {
        guard shown == nil else { return }
        let isNew = newName != nil
        guard
            let dialog = gtk_file_chooser_native_new(
                title, parent.pointer, isNew ? GTK_FILE_CHOOSER_ACTION_SAVE : GTK_FILE_CHOOSER_ACTION_OPEN, accept,
                decline)
        else { return }
        shown = dialog
        let raw = UnsafeMutableRawPointer(dialog)
        gtk_native_dialog_set_modal(raw.assumingMemoryBound(to: GtkNativeDialog.self), 1)
        if let newName { gtk_file_chooser_set_current_name(dialog, newName) }
        let answered: @convention(c) (gpointer?, gint, gpointer?) -> Void = { dialog, response, data in
            let action = Action.of(data)
            let isAccepted = response == GTK_RESPONSE_ACCEPT.rawValue
            MainActor.assumeIsolated { FileChooser.end(isAccepted ? action : nil) }
        }
        attach(raw, "response", unsafeBitCast(answered, to: GCallback.self)) {
            if let path = chosen { action(path) }
        }
        gtk_native_dialog_show(raw.assumingMemoryBound(to: GtkNativeDialog.self))
    }

    /// The bytes of the path that was chosen, which need not be UTF-8; nil for a place that has none, such as one on a server.
    private static var chosen: [UInt8]? {
        guard let shown, let file = gtk_file_chooser_get_file(shown) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(file)) }
        guard let path = g_file_get_path(file) else { return nil }
        defer { g_free(path) }
        return UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) }
    }

    private static func end(_ action: Action?) {
        action?.run()
        guard let dialog = shown else { return }
        shown = nil
        gtk_native_dialog_destroy(UnsafeMutableRawPointer(dialog).assumingMemoryBound(to: GtkNativeDialog.self))
        g_object_unref(UnsafeMutableRawPointer(dialog))
    }
}
