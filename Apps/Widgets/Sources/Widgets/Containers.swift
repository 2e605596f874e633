// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Arranges widgets in a row or a column.
public final class Box: Widget {
    /// The direction of a box.
    public enum Direction: Sendable {
        /// Below each other.
        case down
        /// Beside each other.
        case across

        fileprivate var orientation: GtkOrientation {
            self == .down ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL
        }
    }

    /// Creates a box; if `isEven`, all widgets have the same size.
    public init(_ direction: Direction, spacing: Int32 = 0, isEven: Bool = false, _ content: [Widget] = []) {
        super.init(gtk_box_new(direction.orientation, spacing))
        if isEven { gtk_box_set_homogeneous(box, 1) }
        for widget in content { append(widget) }
    }

    private var box: UnsafeMutablePointer<GtkBox> { raw.assumingMemoryBound(to: GtkBox.self) }

    /// Adds a widget at the end.
    public func append(_ widget: Widget) { gtk_box_append(box, widget.widget) }

    /// Moves these widgets of the box to its beginning, in this order.
    public func putFirst(_ widgets: [Widget]) {
        var last: Widget?
        for widget in widgets {
            gtk_box_reorder_child_after(box, widget.widget, last?.widget)
            last = widget
        }
    }

    /// Changes the space between the widgets.
    public func setSpacing(_ spacing: Int32) { gtk_box_set_spacing(box, spacing) }

    /// Changes the direction.
    public func turn(_ direction: Direction) { gtk_orientable_set_orientation(opaque, direction.orientation) }
}

/// Shows one of several named widgets. The others are hidden from assistive technology.
public final class Stack: Widget {
    private let pages: [String: Widget]

    /// Creates a stack that shows the first page.
    public convenience init(_ pages: KeyValuePairs<String, Widget>) { self.init(pages.map { ($0.key, $0.value) }) }

    /// Creates a stack of these pages, with different names, that shows the first one.
    public init(_ pages: [(key: String, value: Widget)]) {
        self.pages = Dictionary(pages.map { ($0.key, $0.value) }) { first, _ in first }
        super.init(gtk_stack_new())
        // Disables the animation, during which the previous page would still show its text.
        gtk_stack_set_transition_type(opaque, GTK_STACK_TRANSITION_TYPE_NONE)
        for page in pages {
            gtk_stack_add_named(opaque, page.value.widget, page.key)
            page.value.isVisible = page.key == pages.first?.key
        }
    }

    /// The name of the visible page.
    public var page: String {
        get { gtk_stack_get_visible_child_name(opaque).map { String(cString: $0) } ?? "" }
        set {
            let old = page
            guard newValue != old else { return }
            pages[newValue]?.isVisible = true
            gtk_stack_set_visible_child_name(opaque, newValue)
            pages[old]?.isVisible = false
        }
    }
}

/// Shows two widgets side by side, or only one of them when the window is too narrow (folded).
public final class Leaflet: Widget {
    private let first: Widget
    private let second: Widget

    /// The first widget has its natural width; the second gets the remaining width.
    public init(_ first: Widget, _ second: Widget) {
        self.first = first
        self.second = second
        super.init(adw_leaflet_new())
        first.expand(down: true)
        second.expand(across: true, down: true)
        gtk_widget_set_hexpand(first.widget, 0)
        adw_leaflet_append(opaque, first.widget)
        let line: UnsafeMutablePointer<GtkWidget> = gtk_separator_new(GTK_ORIENTATION_VERTICAL)
        adw_leaflet_page_set_navigatable(adw_leaflet_append(opaque, line), 0)
        adw_leaflet_append(opaque, second.widget)
        adw_leaflet_set_mode_transition_duration(opaque, 0)
    }

    /// Whether only one widget fits.
    public var isFolded: Bool { adw_leaflet_get_folded(opaque) != 0 }

    /// Calls `action` when `isFolded` has changed.
    public func whenFolded(_ action: @escaping @MainActor () -> Void) { observe(raw, "folded", action) }

    /// Selects the widget that is shown when folded; the other is then hidden from assistive technology.
    public func show(second isSecond: Bool) {
        let shown = isSecond ? second : first
        if adw_leaflet_get_visible_child(opaque) != shown.widget { adw_leaflet_set_visible_child(opaque, shown.widget) }
        first.hideFromAssistants(isFolded && isSecond)
        second.hideFromAssistants(isFolded && !isSecond)
    }
}

/// Scrolls a widget horizontally.
public final class Scroller: Widget {
    /// Creates a scroller around `content`.
    public init(_ content: Widget) {
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(opaque, GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER)
        gtk_scrolled_window_set_child(opaque, content.widget)
    }
}

/// Has the height of its content up to a limit, above which it scrolls the content.
public final class Limited: Widget {
    private let content: Widget

    /// Creates a place around `content`, whose height is that of the last `fit`.
    public init(_ content: Widget) {
        self.content = content
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        // A bar that appears under the pointer only would not say that there is more.
        gtk_scrolled_window_set_overlay_scrolling(opaque, 0)
        gtk_scrolled_window_set_child(opaque, content.widget)
    }

    /// Takes this width, and the height of the content in it, but not more than the limit. GTK would take the height in the
    /// least width.
    public func fit(width: Int32, limit: Int32 = .max) {
        gtk_scrolled_window_set_min_content_width(opaque, width)
        gtk_scrolled_window_set_min_content_height(opaque, min(limit, content.height(inWidth: width)))
    }
}

/// Centres its content and limits its width.
public final class Clamp: Widget {
    /// Creates a clamp around `content`.
    ///
    /// - Parameter width: in points at the normal size of text. With larger text it is wider, so that a line of it has as many
    ///   characters.
    public init(_ content: Widget, width: Int32) {
        super.init(adw_clamp_new())
        adw_clamp_set_child(opaque, content.widget)
        // libadwaita has a unit of length for this since version 1.4. Below the second width the content fills the clamp; 400
        // is what libadwaita sets.
        adw_clamp_set_maximum_size(opaque, Int32(Double(width) * TextSize.scale))
        adw_clamp_set_tightening_threshold(opaque, Int32(400 * TextSize.scale))
    }
}

/// The size of text that the person has chosen.
@MainActor enum TextSize {
    /// How many times as large as normal text is.
    static var scale: Double {
        guard let settings = gtk_settings_get_default() else { return 1 }
        var value = GValue()
        g_value_init(&value, latchkey_type_int())
        g_object_get_property(
            UnsafeMutableRawPointer(settings).assumingMemoryBound(to: GObject.self), "gtk-xft-dpi", &value)
        defer { g_value_unset(&value) }
        // In 1024ths of a dot per inch, of which normal text has 96; negative if it is not known.
        let dots = g_value_get_int(&value)
        return dots > 0 ? max(0.5, Double(dots) / 1024 / 96) : 1
    }
}

/// Centres its content, limits its width and scrolls it vertically.
public final class Page: Widget {
    /// Creates a page around `content` with a maximum width.
    ///
    /// - Parameters:
    ///   - isCentred: whether low content is in the middle; otherwise it is at the top.
    ///   - foot: the end of a centred page, such as its buttons, which stays in sight while the rest is scrolled.
    public init(_ content: Widget, width: Int32, isCentred: Bool = true, foot: Widget? = nil) {
        let clamp = Clamp(content, width: width)
        content.setMargin(24, sides: isCentred ? 24 : 12)
        if isCentred { content.centre(across: false) }
        let scroller: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
        let scrolled = OpaquePointer(scroller)
        gtk_scrolled_window_set_policy(scrolled, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(scrolled, clamp.widget)
        guard let foot else {
            super.init(scroller)
            expand(across: true, down: true)
            return
        }
        content.setMargins(above: 24, below: 0, sides: 24)
        foot.setMargins(above: 12, below: 24, sides: 24)
        super.init(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
        for part in [scroller, Clamp(foot, width: width).widget] { gtk_widget_insert_before(part, widget, nil) }
        PageLayout.use(in: widget)
        expand(across: true, down: true)
    }
}

/// The header bar of a window: its title, and buttons at both ends.
public final class HeaderBar: Widget {
    private let title: OpaquePointer

    /// Creates a bar with a title.
    public init(title: String) {
        let made: UnsafeMutablePointer<GtkWidget> = adw_window_title_new(title, "")
        self.title = OpaquePointer(made)
        super.init(adw_header_bar_new())
        adw_header_bar_set_title_widget(opaque, made)
    }

    /// Shows or hides the title: a narrow bar only has room for its buttons.
    public func showTitle(_ isShown: Bool) {
        Widget(UnsafeMutableRawPointer(title).assumingMemoryBound(to: GtkWidget.self)).isVisible = isShown
    }

    /// Changes the title.
    public func setTitle(_ text: String) { adw_window_title_set_title(title, text) }

    /// A second line under the title.
    public var subtitle: String {
        get { String(cString: adw_window_title_get_subtitle(title)) }
        set { if newValue != subtitle { adw_window_title_set_subtitle(title, newValue) } }
    }

    /// Adds a widget at the start.
    public func atStart(_ widget: Widget) { adw_header_bar_pack_start(opaque, widget.widget) }

    /// Adds a widget at the end.
    public func atEnd(_ widget: Widget) { adw_header_bar_pack_end(opaque, widget.widget) }
}

/// Shows short messages over its content that disappear after a time.
public final class Toasts: Widget {
    private var shown: OpaquePointer?
    private let content: Widget

    /// Creates an overlay over `content`.
    public init(_ content: Widget) {
        self.content = content
        super.init(adw_toast_overlay_new())
        // The theme rounds a message of several lines so much that its corners cut the text.
        Style.use("toast { border-radius: 24px; }")
        adw_toast_overlay_set_child(opaque, content.widget)
    }

    /// Shows a message with a button for ten seconds, replacing the current message.
    public func show(_ words: String, button: String, _ action: @escaping @MainActor () -> Void) {
        dismiss()
        guard let toast = adw_toast_new(words) else { return }
        adw_toast_set_button_label(toast, button)
        adw_toast_set_timeout(toast, 10)
        connect(UnsafeMutableRawPointer(toast), "button-clicked", action)
        connect(UnsafeMutableRawPointer(toast), "dismissed") { [weak self] in
            if self?.shown == toast { self?.shown = nil }
        }
        shown = toast
        adw_toast_overlay_add_toast(opaque, toast)
        nameDismiss(in: widget)
    }

    /// Shows a message for ten seconds, replacing the current one.
    public func show(_ words: String) {
        dismiss()
        guard let toast = adw_toast_new(Markup.escaped(words)) else { return }
        // The title of a toast is one line, which a narrow window cuts.
        let title = Label(words)
        // Without this, a long name or large text makes the message wider than the window. Beside the text are margins and the
        // button that closes it; a character is about two thirds as wide as a line of bold text is high.
        let room = max(0, gtk_widget_get_width(content.widget) - 120) * 3 / 2 / max(1, title.lineHeight)
        title.setWidest(characters: min(40, max(8, room)))
        title.setStyle("heading")
        adw_toast_set_custom_title(toast, title.widget)
        adw_toast_set_timeout(toast, 10)
        connect(UnsafeMutableRawPointer(toast), "dismissed") { [weak self] in
            if self?.shown == toast { self?.shown = nil }
        }
        shown = toast
        adw_toast_overlay_add_toast(opaque, toast)
        nameDismiss(in: widget)
    }

    /// Names the button that closes a toast, which libadwaita 1.2 leaves without an accessible name.
    private func nameDismiss(in parent: UnsafeMutablePointer<GtkWidget>) {
        var child = gtk_widget_get_first_child(parent)
        while let widget = child {
            child = gtk_widget_get_next_sibling(widget)
            // The content sets its own names.
            guard widget != content.widget else { continue }
            nameDismiss(in: widget)
            guard
                g_type_check_instance_is_a(
                    UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GTypeInstance.self), gtk_button_get_type())
                    != 0
            else { continue }
            let label = gtk_button_get_label(UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self))
            // The other button is named by its title.
            if label == nil { Widget(widget).setAccessibleName("Dismiss") }
        }
    }

    /// Dismisses the message.
    public func dismiss() {
        guard let toast = shown else { return }
        shown = nil
        adw_toast_dismiss(toast)
    }
}

/// A thin line between widgets.
public final class Line: Widget {
    /// Creates a horizontal line.
    public init() { super.init(gtk_separator_new(GTK_ORIENTATION_HORIZONTAL)) }
}
