// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// A button with a title in plain text, a picture, or both.
public final class Button: Widget {
    private let picture: Picture?
    private let label: Label?
    private var shown = ""

    /// A button that does `action` when it is pressed, by Space and Enter too.
    ///
    /// - Parameters:
    ///   - title: what stands on it, or, where only a picture does, what it is called.
    ///   - icon: the picture's name in the theme.
    ///   - showsTitle: whether the title stands on it.
    ///   - isClipped: whether a title that is too long for its place ends with an ellipsis; else the place is made for it.
    public init(
        _ title: String = "", icon: String? = nil, showsTitle: Bool = true, isClipped: Bool = false,
        styles: [String] = [], _ action: @escaping @MainActor () -> Void
    ) {
        picture = icon.map { Picture($0, points: 16) }
        label = showsTitle ? Label(lines: isClipped ? 1 : nil, wraps: isClipped, isCentred: isClipped) : nil
        super.init(gtk_button_new())
        let content = Box(.across, spacing: 8, [picture, label].compactMap { $0 })
        if isClipped { label?.expand(across: true) } else { content.centre() }
        gtk_button_set_child(raw.assumingMemoryBound(to: GtkButton.self), content.widget)
        for style in styles { setStyle(style) }
        connect(raw, "clicked", action)
        self.title = title
    }

    /// What stands on it, and what a screen reader calls it.
    public var title: String {
        get { shown }
        set {
            guard newValue != shown else { return }
            shown = newValue
            label?.text = newValue
            setAccessibleName(newValue)
            if label == nil { setToolTip(newValue) }
        }
    }

    /// Whether the title stands on it, where there is a picture too.
    public func showTitle(_ isShown: Bool) {
        label?.isVisible = isShown
        setToolTip(isShown ? "" : shown)
    }

    /// Shows a title, or no button.
    public func show(_ title: String?) {
        self.title = title ?? ""
        isVisible = title != nil
    }

    /// The picture's name.
    public func showIcon(_ name: String) { picture?.show(name) }
}

/// Takes a password: shows dots, keeps the text in memory of its own that is not swapped out (GtkPasswordEntryBuffer).
public final class PasswordField: Widget {
    /// An empty field that does `action` when Enter is pressed in it.
    public init(_ name: String, _ action: @escaping @MainActor () -> Void) {
        super.init(gtk_password_entry_new())
        // Shown text would have an undo history, copies in layouts, and be told to assistive programs: see RevealingField.
        gtk_password_entry_set_show_peek_icon(opaque, 0)
        setAccessibleName(name)
        latchkey_keep_from_assistants(opaque)
        connect(raw, "activate", action)
    }

    /// Whether nothing is typed.
    public var isEmpty: Bool { gtk_editable_get_text(opaque).map { $0.pointee == 0 } ?? true }

    /// Lends what was typed, in UTF-8, and wipes it.
    public func take<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        defer { clear() }
        let text = gtk_editable_get_text(opaque)
        return body(UnsafeRawBufferPointer(start: text, count: text.map { strlen($0) } ?? 0))
    }

    /// Wipes what was typed.
    public func clear() {
        guard let text = gtk_editable_get_text(opaque) else { return }
        let count = strlen(text)
        guard count > 0 else { return }
        gtk_editable_set_text(opaque, "")
        // The buffer moves its end to its start and leaves the rest as it was until the field goes away. It is the same
        // memory still: emptying does not make it smaller.
        if gtk_editable_get_text(opaque) == text { explicit_bzero(UnsafeMutableRawPointer(mutating: text), count) }
        latchkey_wipe_stack()
    }
}

/// Takes words to look for.
public final class SearchField: Widget {
    /// An empty field that gives the words to `action` a moment after they were typed.
    public init(_ name: String, _ action: @escaping @MainActor (String) -> Void) {
        super.init(gtk_search_entry_new())
        // What was looked for may be a word of a note, and nothing of one outlives a lock.
        gtk_editable_set_enable_undo(opaque, 0)
        setAccessibleName(name)
        connect(raw, "search-changed") { [weak self] in
            guard let self else { return }
            action(text)
        }
        connect(raw, "stop-search") { [weak self] in self?.text = "" }
    }

    /// A grey word in the empty field.
    public func setPlaceholder(_ text: String) {
        var value = GValue()
        g_value_init(&value, latchkey_type_string())
        g_value_set_string(&value, text)
        g_object_set_property(raw.assumingMemoryBound(to: GObject.self), "placeholder-text", &value)
        g_value_unset(&value)
    }

    /// What is typed.
    public var text: String {
        get { gtk_editable_get_text(opaque).map { String(cString: $0) } ?? "" }
        set { if newValue != text { gtk_editable_set_text(opaque, newValue) } }
    }
}

/// A button that opens a list of commands.
public final class MenuButton: Widget {
    /// A button of that name with those commands, each a title and what it does.
    public init(_ name: String, icon: String, _ commands: [(title: String, action: @MainActor () -> Void)]) {
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
