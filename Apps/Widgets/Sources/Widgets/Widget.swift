// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A widget. It is owned by the window that contains it and must not be used after that window was closed.
@MainActor public class Widget {
    let widget: UnsafeMutablePointer<GtkWidget>

    init(_ widget: UnsafeMutablePointer<GtkWidget>) { self.widget = widget }

    var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widget) }
    /// The same, for types that are incomplete in C.
    var opaque: OpaquePointer { OpaquePointer(widget) }

    /// Whether it is shown; a hidden widget takes no space.
    public var isVisible: Bool {
        get { gtk_widget_get_visible(widget) != 0 }
        set { if newValue != isVisible { gtk_widget_set_visible(widget, newValue ? 1 : 0) } }
    }

    /// Whether it accepts input.
    public var isSensitive: Bool {
        get { gtk_widget_get_sensitive(widget) != 0 }
        set { if newValue != isSensitive { gtk_widget_set_sensitive(widget, newValue ? 1 : 0) } }
    }

    /// Adds or removes a style class of the theme.
    public func setStyle(_ name: String, _ isOn: Bool = true) {
        if isOn { gtk_widget_add_css_class(widget, name) } else { gtk_widget_remove_css_class(widget, name) }
    }

    /// Moves the focus to it.
    public func focus() { gtk_widget_grab_focus(widget) }

    /// Moves the focus to the first widget within it that can have it.
    public func focusInside() {
        // GTK would go on from the child that had the focus last, also behind the last widget, where nothing gets it.
        var parent = widget
        while let child = gtk_widget_get_focus_child(parent) {
            gtk_widget_set_focus_child(parent, nil)
            parent = child
        }
        gtk_widget_child_focus(widget, GTK_DIR_TAB_FORWARD)
    }

    /// Whether it or a widget within it has the focus.
    public var hasFocusInside: Bool {
        guard let root = gtk_widget_get_root(widget), let focus = gtk_root_get_focus(root) else { return false }
        return focus == widget || gtk_widget_is_ancestor(focus, widget) != 0
    }

    /// Makes it reachable by Tab, although it reacts to no key.
    public func makeFocusable() { gtk_widget_set_focusable(widget, 1) }

    /// Lets it use remaining space in these directions.
    public func expand(across: Bool = false, down: Bool = false) {
        gtk_widget_set_hexpand(widget, across ? 1 : 0)
        gtk_widget_set_vexpand(widget, down ? 1 : 0)
    }

    /// The least width that it asks for, with its margins.
    public var leastWidth: Int32 {
        var least: Int32 = 0
        gtk_widget_measure(widget, GTK_ORIENTATION_HORIZONTAL, -1, &least, nil, nil, nil)
        return least
    }

    /// The height that it asks for in a width, both with its margins.
    public func height(inWidth width: Int32) -> Int32 {
        var natural: Int32 = 0
        gtk_widget_measure(widget, GTK_ORIENTATION_VERTICAL, width, nil, &natural, nil, nil)
        return natural
    }

    /// Sets the margins, `sides` at start and end.
    public func setMargin(_ margin: Int32, sides: Int32? = nil) {
        gtk_widget_set_margin_top(widget, margin)
        gtk_widget_set_margin_bottom(widget, margin)
        gtk_widget_set_margin_start(widget, sides ?? margin)
        gtk_widget_set_margin_end(widget, sides ?? margin)
    }

    /// Sets margins that differ.
    public func setMargins(above: Int32, below: Int32, sides: Int32) {
        setMargin(above, sides: sides)
        gtk_widget_set_margin_bottom(widget, below)
    }

    /// Sets the minimum width.
    public func setWidth(_ width: Int32) { gtk_widget_set_size_request(widget, width, -1) }

    /// Sets the minimum height.
    public func setHeight(_ height: Int32) { gtk_widget_set_size_request(widget, -1, height) }

    /// Centres it at its natural size.
    public func centre(across: Bool = true, down: Bool = true) {
        if across { gtk_widget_set_halign(widget, GTK_ALIGN_CENTER) }
        if down { gtk_widget_set_valign(widget, GTK_ALIGN_CENTER) }
    }

    /// Sets the tool tip.
    public func setToolTip(_ text: String) { gtk_widget_set_tooltip_text(widget, text) }

    /// Sets the accessible name.
    public func setAccessibleName(_ text: String) { setAccessible(GTK_ACCESSIBLE_PROPERTY_LABEL, text) }

    /// Sets the accessible description, which a screen reader says after the name.
    public func setAccessibleDescription(_ text: String) { setAccessible(GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text) }

    /// Hides it and its descendants from assistive technology, while another widget covers it.
    func hideFromAssistants(_ isHidden: Bool) {
        var state = GTK_ACCESSIBLE_STATE_HIDDEN
        var value = GValue()
        g_value_init(&value, latchkey_type_boolean())
        g_value_set_boolean(&value, isHidden ? 1 : 0)
        gtk_accessible_update_state_value(opaque, 1, &state, &value)
        g_value_unset(&value)
    }

    private func setAccessible(_ property: GtkAccessibleProperty, _ text: String) {
        var property = property
        var value = GValue()
        g_value_init(&value, latchkey_type_string())
        g_value_set_string(&value, text)
        gtk_accessible_update_property_value(opaque, 1, &property, &value)
        g_value_unset(&value)
    }

    /// Creates a widget with an accessible role, which cannot be changed later.
    static func make(_ type: GType, role: GtkAccessibleRole) -> UnsafeMutablePointer<GtkWidget>? {
        var value = GValue()
        g_value_init(&value, gtk_accessible_role_get_type())
        g_value_set_enum(&value, gint(role.rawValue))
        defer { g_value_unset(&value) }
        return "accessible-role".withCString { name in
            var names: [UnsafePointer<CChar>?] = [name]
            return g_object_new_with_properties(type, 1, &names, &value).map {
                UnsafeMutableRawPointer($0).assumingMemoryBound(to: GtkWidget.self)
            }
        }
    }
}
