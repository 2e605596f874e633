// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A dialog over a window with a question and two answers.
@MainActor public enum Question {
    /// Shows a text in a dialog, which a button closes.
    ///
    /// - Parameter close: the title of the button, with a mnemonic.
    public static func tell(over parent: AppWindow, heading: String, body: String, close: String) {
        let made: UnsafeMutablePointer<GtkWidget> = adw_message_dialog_new(parent.pointer, heading, body)
        let dialog = UnsafeMutableRawPointer(made).assumingMemoryBound(to: AdwMessageDialog.self)
        adw_message_dialog_add_response(dialog, "no", close)
        adw_message_dialog_set_default_response(dialog, "no")
        adw_message_dialog_set_close_response(dialog, "no")
        fit(made)
        gtk_window_set_title(UnsafeMutableRawPointer(made).assumingMemoryBound(to: GtkWindow.self), heading)
        gtk_window_present(UnsafeMutableRawPointer(made).assumingMemoryBound(to: GtkWindow.self))
    }

    /// Asks, and calls `action` if the user agrees. Escape and closing the dialog decline.
    ///
    /// - Parameters:
    ///   - heading: the question, in plain text.
    ///   - body: what follows from agreeing, in plain text.
    ///   - decline: the title of the button that changes nothing, with a mnemonic.
    ///   - agree: the title of the button that agrees, with a mnemonic.
    ///   - isDestructive: whether agreeing deletes something; it is then not the default.
    ///   - extra: what is below the text; nil for nothing.
    ///   - typing: a word that has to be typed before the user can agree, and the accessible name of the field for it; nil
    ///     for a question that a button answers.
    /// - Returns: the dialog that is shown.
    @discardableResult public static func ask(
        over parent: AppWindow, heading: String, body: String, decline: String, agree: String, isDestructive: Bool,
        extra: Widget? = nil, typing: (word: String, name: String)? = nil, _ action: @escaping @MainActor () -> Void
    ) -> Dialog {
        let made: UnsafeMutablePointer<GtkWidget> = adw_message_dialog_new(parent.pointer, heading, body)
        let dialog = UnsafeMutableRawPointer(made).assumingMemoryBound(to: AdwMessageDialog.self)
        adw_message_dialog_add_response(dialog, "no", decline)
        adw_message_dialog_add_response(dialog, "yes", agree)
        adw_message_dialog_set_response_appearance(
            dialog, "yes", isDestructive ? ADW_RESPONSE_DESTRUCTIVE : ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(dialog, isDestructive ? "no" : "yes")
        adw_message_dialog_set_close_response(dialog, "no")
        if let extra { adw_message_dialog_set_extra_child(dialog, extra.widget) }
        if let typing {
            let field = TextField(typing.name) {}
            adw_message_dialog_set_extra_child(dialog, field.widget)
            // A body that scrolls would get the focus.
            gtk_window_set_focus(UnsafeMutableRawPointer(made).assumingMemoryBound(to: GtkWindow.self), field.widget)
            adw_message_dialog_set_response_enabled(dialog, "yes", 0)
            // Enter agrees when the word is typed, and does nothing before.
            let entry = field.raw.assumingMemoryBound(to: GtkEntry.self)
            // The field keeps the action, and the action the field's wrapper, until the dialog is closed.
            field.whenChanged {
                // A keyboard on a telephone begins with a capital letter and ends with a blank.
                let isTyped = field.text.lowercased().split(separator: " ") == [typing.word.lowercased()[...]]
                adw_message_dialog_set_response_enabled(dialog, "yes", isTyped ? 1 : 0)
                adw_message_dialog_set_default_response(dialog, isTyped ? "yes" : "no")
                gtk_entry_set_activates_default(entry, isTyped ? 1 : 0)
            }
        }
        // The title is the name that assistive technology reads.
        gtk_window_set_title(UnsafeMutableRawPointer(made).assumingMemoryBound(to: GtkWindow.self), heading)
        let answered: @convention(c) (gpointer?, UnsafePointer<CChar>?, gpointer?) -> Void = { _, response, data in
            guard let response, strcmp(response, "yes") == 0 else { return }
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
        }
        fit(made)
        attach(UnsafeMutableRawPointer(made), "response", unsafeBitCast(answered, to: GCallback.self), action)
        gtk_window_present(UnsafeMutableRawPointer(made).assumingMemoryBound(to: GtkWindow.self))
        return Dialog(made)
    }

    /// What a desktop shows beside a dialog, such as a bar, in points.
    private static let surroundings: Int32 = 60

    /// The least height of a body that scrolls.
    private static let leastBody: Int32 = 80

    /// Makes the body of a dialog scroll if the dialog is higher than the display: its buttons would be out of reach. From version
    /// 1.3 on, libadwaita does this itself.
    private static func fit(_ dialog: UnsafeMutablePointer<GtkWidget>) {
        let window = UnsafeMutableRawPointer(dialog).assumingMemoryBound(to: GtkWindow.self)
        guard let display = MainLoop.monitorSize, let child = gtk_window_get_child(window).map({ Widget($0) }),
            let area = find("message-area", in: child.widget), let heading = gtk_widget_get_first_child(area),
            let body = gtk_widget_get_next_sibling(heading), isLabel(body)
        else { return }
        var width: Int32 = 0
        gtk_widget_measure(child.widget, GTK_ORIENTATION_HORIZONTAL, -1, nil, &width, nil, nil)
        width = max(child.leastWidth, min(width, display.width - surroundings))
        let excess = child.height(inWidth: width) - (display.height - surroundings)
        guard excess > 0 else { return }
        var bodyWidth: Int32 = 0
        gtk_widget_measure(body, GTK_ORIENTATION_HORIZONTAL, -1, nil, &bodyWidth, nil, nil)
        bodyWidth = max(Widget(body).leastWidth, min(bodyWidth, width - surroundings))
        let limit = max(leastBody, Widget(body).height(inWidth: bodyWidth) - excess)
        let box = UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkBox.self)
        g_object_ref(body)
        gtk_box_remove(box, body)
        let limited = Limited(Widget(body))
        g_object_unref(body)
        limited.fit(width: bodyWidth, limit: limit)
        gtk_box_insert_child_after(box, limited.widget, heading)
    }

    private static func isLabel(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
        g_type_check_instance_is_a(
            UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GTypeInstance.self), gtk_label_get_type()) != 0
    }

    /// The first widget with a style class within another one.
    private static func find(
        _ style: String, in parent: UnsafeMutablePointer<GtkWidget>
    ) -> UnsafeMutablePointer<GtkWidget>? {
        if gtk_widget_has_css_class(parent, style) != 0 { return parent }
        var child = gtk_widget_get_first_child(parent)
        while let widget = child {
            if let found = find(style, in: widget) { return found }
            child = gtk_widget_get_next_sibling(widget)
        }
        return nil
    }

    /// A question that is shown.
    @MainActor public final class Dialog {
        /// Nil when the dialog is gone.
        private var dialog: UnsafeMutablePointer<GtkWidget>?

        init(_ dialog: UnsafeMutablePointer<GtkWidget>) {
            self.dialog = dialog
            connect(UnsafeMutableRawPointer(dialog), "destroy") { [weak self] in self?.dialog = nil }
        }

        /// Closes the dialog, which declines.
        public func close() {
            guard let dialog else { return }
            gtk_window_close(UnsafeMutableRawPointer(dialog).assumingMemoryBound(to: GtkWindow.self))
        }
    }
}
