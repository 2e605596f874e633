// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// A button with a title in plain text, a picture, or both.
package final class Button: Widget {
    private let picture: Picture?
    private let label: Label?
    private var shown = ""

    /// A button that does `action` when it is pressed, by Space and Enter too.
    ///
    /// - Parameters:
    ///   - title: what stands on it, or, where only a picture does, what it is called.
    ///   - icon: the picture's name in the theme.
    ///   - showsTitle: whether the title stands on it.
    package init(
        _ title: String = "", icon: String? = nil, showsTitle: Bool = true, styles: [String] = [],
        _ action: @escaping @MainActor () -> Void
    ) {
        picture = icon.map { Picture($0, points: 16) }
        label = showsTitle ? Label() : nil
        super.init(gtk_button_new())
        let content = Box(.across, spacing: 8, [picture, label].compactMap { $0 })
        content.centre()
        gtk_button_set_child(raw.assumingMemoryBound(to: GtkButton.self), content.widget)
        for style in styles { setStyle(style) }
        connect(raw, "clicked", action)
        self.title = title
    }

    /// What stands on it, and what a screen reader calls it.
    package var title: String {
        get { shown }
        set {
            guard newValue != shown else { return }
            shown = newValue
            label?.text = newValue
            setAccessibleName(newValue)
            if label == nil { setToolTip(newValue) }
        }
    }

    /// The picture's name.
    package func showIcon(_ name: String) { picture?.show(name) }
}

/// Takes a password: shows dots, keeps the text in memory of its own that is not swapped out (GtkPasswordEntryBuffer).
package final class PasswordField: Widget {
    /// An empty field that does `action` when Enter is pressed in it.
    package init(_ name: String, _ action: @escaping @MainActor () -> Void) {
        super.init(gtk_password_entry_new())
        // No button that shows the text: shown text has an undo history.
        gtk_password_entry_set_show_peek_icon(opaque, 0)
        setAccessibleName(name)
        connect(raw, "activate", action)
    }

    /// Gives what was typed and wipes it here.
    package func take() -> String {
        defer { clear() }
        return gtk_editable_get_text(opaque).map { String(cString: $0) } ?? ""
    }

    /// Wipes what was typed.
    package func clear() {
        guard let text = gtk_editable_get_text(opaque) else { return }
        let count = strlen(text)
        guard count > 0 else { return }
        gtk_editable_set_text(opaque, "")
        // The buffer moves its end to its start and leaves the rest as it was until the field goes away. It is the same
        // memory still: emptying does not make it smaller.
        if gtk_editable_get_text(opaque) == text { explicit_bzero(UnsafeMutableRawPointer(mutating: text), count) }
    }
}

/// Takes words to look for.
package final class SearchField: Widget {
    private var isSetting = false

    /// An empty field that gives the words to `action` a moment after they were typed.
    package init(_ name: String, _ action: @escaping @MainActor (String) -> Void) {
        super.init(gtk_search_entry_new())
        // What was looked for may be a word of a note, and nothing of one outlives a lock.
        gtk_editable_set_enable_undo(opaque, 0)
        setAccessibleName(name)
        connect(raw, "search-changed") { [weak self] in
            guard let self, !isSetting else { return }
            action(text)
        }
        connect(raw, "stop-search") { [weak self] in self?.text = "" }
    }

    /// A grey word in the empty field.
    package func setPlaceholder(_ text: String) {
        var value = GValue()
        g_value_init(&value, latchkey_type_string())
        g_value_set_string(&value, text)
        g_object_set_property(raw.assumingMemoryBound(to: GObject.self), "placeholder-text", &value)
        g_value_unset(&value)
    }

    /// What is typed.
    package var text: String {
        get { gtk_editable_get_text(opaque).map { String(cString: $0) } ?? "" }
        set { if newValue != text { gtk_editable_set_text(opaque, newValue) } }
    }
}

/// A button that opens a list of commands.
package final class MenuButton: Widget {
    /// A button of that name with those commands, each a title and what it does.
    package init(_ name: String, icon: String, _ commands: [(title: String, action: @MainActor () -> Void)]) {
        super.init(gtk_menu_button_new())
        gtk_menu_button_set_icon_name(opaque, icon)
        // F10 opens it.
        gtk_menu_button_set_primary(opaque, 1)
        setAccessibleName(name)
        setToolTip(name)
        let popover: UnsafeMutablePointer<GtkWidget> = gtk_popover_new()
        let list = Box(.down)
        for command in commands {
            let button = Button(command.title, styles: ["flat"]) {
                gtk_popover_popdown(UnsafeMutableRawPointer(popover).assumingMemoryBound(to: GtkPopover.self))
                command.action()
            }
            list.append(button)
        }
        gtk_popover_set_child(UnsafeMutableRawPointer(popover).assumingMemoryBound(to: GtkPopover.self), list.widget)
        gtk_menu_button_set_popover(opaque, popover)
    }
}
