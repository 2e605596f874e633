// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Widgets beside or below each other.
public final class Box: Widget {
    /// The way in which they follow each other.
    public enum Direction: Sendable {
        /// Below each other.
        case down
        /// Beside each other.
        case across

        fileprivate var orientation: GtkOrientation {
            self == .down ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL
        }
    }

    /// A box with that in it; where `isEven` all have the same room.
    public init(_ direction: Direction, spacing: Int32 = 0, isEven: Bool = false, _ content: [Widget] = []) {
        super.init(gtk_box_new(direction.orientation, spacing))
        if isEven { gtk_box_set_homogeneous(box, 1) }
        for widget in content { append(widget) }
    }

    private var box: UnsafeMutablePointer<GtkBox> { raw.assumingMemoryBound(to: GtkBox.self) }

    /// Puts a widget at the end.
    public func append(_ widget: Widget) { gtk_box_append(box, widget.widget) }

    /// Turns it.
    public func turn(_ direction: Direction) { gtk_orientable_set_orientation(opaque, direction.orientation) }
}

/// Shows one of several widgets, each under a name. Screen readers do not meet the others.
public final class Stack: Widget {
    private let pages: [String: Widget]

    /// A stack of those; shows the first.
    public init(_ pages: KeyValuePairs<String, Widget>) {
        self.pages = Dictionary(pages.map { ($0.key, $0.value) }) { first, _ in first }
        super.init(gtk_stack_new())
        // Without an animation, in which the page that goes would still show its text.
        gtk_stack_set_transition_type(opaque, GTK_STACK_TRANSITION_TYPE_NONE)
        for page in pages {
            gtk_stack_add_named(opaque, page.value.widget, page.key)
            page.value.isVisible = page.key == pages.first?.key
        }
    }

    /// The page that is shown.
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

/// Two widgets beside each other, or one of them where there is no room for both.
public final class Leaflet: Widget {
    private let first: Widget
    private let second: Widget

    /// The first is as wide as it asks for; the second takes the rest.
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

    /// Whether there is room for one alone.
    public var isFolded: Bool { adw_leaflet_get_folded(opaque) != 0 }

    /// Runs `action` when that has changed.
    public func whenFolded(_ action: @escaping @MainActor () -> Void) { observe(raw, "folded", action) }

    /// Shows one of them where there is room for one alone; the other is not there for screen readers then.
    public func show(second isSecond: Bool) {
        let shown = isSecond ? second : first
        if adw_leaflet_get_visible_child(opaque) != shown.widget { adw_leaflet_set_visible_child(opaque, shown.widget) }
        first.hideFromAssistants(isFolded && isSecond)
        second.hideFromAssistants(isFolded && !isSecond)
    }
}

/// Lets a widget that is wider than the window be scrolled from side to side.
public final class Scroller: Widget {
    /// Around `content`.
    public init(_ content: Widget) {
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(opaque, GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER)
        gtk_scrolled_window_set_child(opaque, content.widget)
    }
}

/// Keeps its content narrow and in the middle, and lets it be scrolled where the window is low.
public final class Page: Widget {
    /// A page around `content`, at most so wide.
    public init(_ content: Widget, width: Int32) {
        let clamp: UnsafeMutablePointer<GtkWidget> = adw_clamp_new()
        adw_clamp_set_maximum_size(OpaquePointer(clamp), width)
        adw_clamp_set_child(OpaquePointer(clamp), content.widget)
        content.setMargin(24)
        content.centre(across: false)
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(opaque, clamp)
        expand(across: true, down: true)
    }
}

/// The top of a window: its title, and buttons at both ends.
public final class HeaderBar: Widget {
    private let title: OpaquePointer

    /// A bar with a title.
    public init(title: String) {
        let made: UnsafeMutablePointer<GtkWidget> = adw_window_title_new(title, "")
        self.title = OpaquePointer(made)
        super.init(adw_header_bar_new())
        adw_header_bar_set_title_widget(opaque, made)
    }

    /// Whether the title is there; a narrow bar has room for its buttons alone.
    public func showTitle(_ isShown: Bool) {
        Widget(UnsafeMutableRawPointer(title).assumingMemoryBound(to: GtkWidget.self)).isVisible = isShown
    }

    /// A second line under the title.
    public var subtitle: String {
        get { String(cString: adw_window_title_get_subtitle(title)) }
        set { if newValue != subtitle { adw_window_title_set_subtitle(title, newValue) } }
    }

    /// Puts a widget at the start.
    public func atStart(_ widget: Widget) { adw_header_bar_pack_start(opaque, widget.widget) }

    /// Puts a widget at the end.
    public func atEnd(_ widget: Widget) { adw_header_bar_pack_end(opaque, widget.widget) }
}

/// Shows short words over its content that go away by themselves.
public final class Toasts: Widget {
    private var shown: OpaquePointer?
    private let content: Widget

    /// An overlay over `content`.
    public init(_ content: Widget) {
        self.content = content
        super.init(adw_toast_overlay_new())
        adw_toast_overlay_set_child(opaque, content.widget)
    }

    /// Shows words with a button, in place of what is shown, for ten seconds.
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

    /// libadwaita 1.2 leaves the button that closes a toast without a name for screen readers.
    private func nameDismiss(in parent: UnsafeMutablePointer<GtkWidget>) {
        var child = gtk_widget_get_first_child(parent)
        while let widget = child {
            child = gtk_widget_get_next_sibling(widget)
            // The content has names of its own.
            guard widget != content.widget else { continue }
            nameDismiss(in: widget)
            guard
                g_type_check_instance_is_a(
                    UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GTypeInstance.self), gtk_button_get_type())
                    != 0
            else { continue }
            let label = gtk_button_get_label(UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self))
            // The other one is called what stands on it.
            if label == nil { Widget(widget).setAccessibleName("Dismiss") }
        }
    }

    /// Takes it away.
    public func dismiss() {
        guard let toast = shown else { return }
        shown = nil
        adw_toast_dismiss(toast)
    }
}

/// A thin line between widgets.
public final class Line: Widget {
    /// A line across.
    public init() { super.init(gtk_separator_new(GTK_ORIENTATION_HORIZONTAL)) }
}
