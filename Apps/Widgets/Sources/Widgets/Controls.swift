// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// A button with a title in plain text, an icon, or both.
public final class Button: Widget {
    private let picture: Picture?
    private let label: Label?
    private var shown = ""

    /// Creates a button that calls `action` when it is pressed, also by Space or Enter.
    ///
    /// - Parameters:
    ///   - title: its text; the accessible name and tool tip where only an icon is shown.
    ///   - icon: the icon's name in the theme.
    ///   - showsTitle: whether the title is visible.
    ///   - isClipped: whether a long title ends with an ellipsis instead of widening the button.
    public init(
        _ title: String = "", icon: String? = nil, showsTitle: Bool = true, isClipped: Bool = false,
        styles: [String] = [], _ action: @escaping @MainActor () -> Void
    ) {
        picture = icon.map { Picture($0, points: 16) }
        label = showsTitle ? Label(lines: isClipped ? 1 : nil, wraps: isClipped, isCentred: isClipped) : nil
        super.init(gtk_button_new())
        if let label, styles.contains("pill") { Self.wrap(label.opaque) }
        let content = Box(.across, spacing: 8, [picture, label].compactMap { $0 })
        if isClipped { label?.expand(across: true) } else { content.centre() }
        gtk_button_set_child(raw.assumingMemoryBound(to: GtkButton.self), content.widget)
        for style in styles { setStyle(style) }
        connect(raw, "clicked", action)
        self.title = title
    }

    /// Wraps the title of a button between its words where it has no room in one line: a long title, such as that of a pill,
    /// would make a narrow window wider.
    static func wrap(_ label: OpaquePointer) {
        gtk_label_set_wrap(label, 1)
        gtk_label_set_wrap_mode(label, PANGO_WRAP_WORD)
        gtk_label_set_natural_wrap_mode(label, GTK_NATURAL_WRAP_NONE)
        gtk_label_set_justify(label, GTK_JUSTIFY_CENTER)
        gtk_label_set_xalign(label, 0.5)
    }

    /// Its title and accessible name.
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

    /// Shows or hides the title beside the icon.
    public func showTitle(_ isShown: Bool) {
        label?.isVisible = isShown
        setToolTip(isShown ? "" : shown)
    }

    /// Sets the title, or hides the button when it is nil.
    public func show(_ title: String?) {
        self.title = title ?? ""
        isVisible = title != nil
    }

    /// Changes the icon.
    public func showIcon(_ name: String) { picture?.show(name) }

    /// Leaves the focus where it is when the button is clicked; the keyboard still reaches it.
    public func leaveFocusOnClick() { gtk_widget_set_focus_on_click(widget, 0) }

    /// Tells assistive technology whether what the button shows and hides is shown.
    public func showExpanded(_ isExpanded: Bool) {
        self.isExpanded = isExpanded
        latchkey_set_expanded(widget, isExpanded ? 1 : 0)
    }

    /// Whether what the button shows and hides is shown.
    public private(set) var isExpanded = false
}

/// A password field that shows dots. GTK has no more than the dots (``ConcealedBuffer``); the typed text is in memory that is
/// not swapped out.
public final class PasswordField: Widget {
    let text = ConcealedText()

    /// Creates an empty field that calls `action` when Enter is pressed.
    public init(_ name: String, _ action: @escaping @MainActor () -> Void) {
        super.init(gtk_password_entry_new())
        ConcealedBuffer.use(text, in: opaque)
        // GTK's button would show the dots: see RevealingField.
        gtk_password_entry_set_show_peek_icon(opaque, 0)
        setAccessibleName(name)
        latchkey_keep_from_assistants(opaque)
        connect(raw, "activate", action)
    }

    /// Whether the field is empty.
    public var isEmpty: Bool { text.count == 0 }

    /// Passes the typed text in UTF-8 to `body`, then wipes it.
    public func take<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        defer { clear() }
        return read(body)
    }

    /// Passes the typed text in UTF-8 to `body`; it stays in the field.
    public func read<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: text.characters, count: text.byteCount))
    }

    /// Moves the focus to the field, behind the typed text, which the next key must not replace.
    public func focusAtEnd() {
        focus()
        gtk_editable_set_position(opaque, -1)
    }

    /// Handles the key that a controller of another widget handles now, as if the field had had the focus.
    func take(keyOf controller: OpaquePointer) -> gboolean {
        guard let text = gtk_editable_get_delegate(opaque) else { return 0 }
        let widget = UnsafeMutableRawPointer(text).assumingMemoryBound(to: GtkWidget.self)
        return gtk_event_controller_key_forward(controller, widget)
    }

    /// Wipes the typed text.
    public func clear() {
        guard !isEmpty else { return }
        gtk_editable_set_text(opaque, "")
        latchkey_wipe_stack()
    }
}

/// A search field.
public final class SearchField: Widget {
    /// Creates an empty field that passes its text to `action` shortly after each change.
    public init(_ name: String, _ action: @escaping @MainActor (String) -> Void) {
        super.init(gtk_search_entry_new())
        // A search may contain text of a note, of which nothing may remain in memory after a lock.
        gtk_editable_set_enable_undo(opaque, 0)
        setAccessibleName(name)
        connect(raw, "search-changed") { [weak self] in
            guard let self else { return }
            action(text)
        }
        connect(raw, "stop-search") { [weak self] in self?.text = "" }
    }

    /// Sets the text shown in the empty field.
    public func setPlaceholder(_ text: String) {
        var value = GValue()
        g_value_init(&value, latchkey_type_string())
        g_value_set_string(&value, text)
        g_object_set_property(raw.assumingMemoryBound(to: GObject.self), "placeholder-text", &value)
        g_value_unset(&value)
    }

    /// The text of the field.
    public var text: String {
        get { gtk_editable_get_text(opaque).map { String(cString: $0) } ?? "" }
        set { if newValue != text { gtk_editable_set_text(opaque, newValue) } }
    }
}

/// A button that opens a list of commands.
public final class MenuButton: Widget {
    /// Creates a button with an accessible name and a list of commands.
    public init(_ name: String, icon: String, _ commands: [(title: String, action: @MainActor () -> Void)]) {
        super.init(gtk_menu_button_new())
        gtk_menu_button_set_icon_name(opaque, icon)
        // F10 opens it.
        gtk_menu_button_set_primary(opaque, 1)
        setAccessibleName(name)
        // On the button within: a tool tip of this widget would also cover the commands, which are within it, too.
        if let button = gtk_widget_get_first_child(widget) { Widget(button).setToolTip(name) }
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
