// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A group of rows in a frame, with a heading and a description above it.
public final class RowGroup: Widget {
    private var rows: [Row] = []
    private let name: String?

    /// Creates a group of these rows; heading and description are plain text.
    ///
    /// - Parameter name: the accessible name of the list; the heading if it is nil.
    public init(_ title: String = "", description: String = "", name: String? = nil, _ rows: [Row] = []) {
        self.name = name
        super.init(adw_preferences_group_new())
        setTitle(title)
        setDescription(description)
        show(rows)
    }

    private var group: UnsafeMutablePointer<AdwPreferencesGroup> {
        raw.assumingMemoryBound(to: AdwPreferencesGroup.self)
    }

    /// Changes the heading.
    public func setTitle(_ title: String) {
        adw_preferences_group_set_title(group, Markup.escaped(title))
        nameList(name ?? title, in: widget)
    }

    /// Changes the text between heading and rows.
    public func setDescription(_ text: String) { adw_preferences_group_set_description(group, Markup.escaped(text)) }

    /// Names the list that contains the rows. libadwaita 1.2 leaves it without an accessible name, and 1.7 refers to the
    /// heading, also to an empty one.
    private func nameList(_ name: String, in parent: UnsafeMutablePointer<GtkWidget>) {
        var child = gtk_widget_get_first_child(parent)
        while let widget = child {
            child = gtk_widget_get_next_sibling(widget)
            let instance = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GTypeInstance.self)
            if g_type_check_instance_is_a(instance, gtk_list_box_get_type()) != 0 {
                let list = Widget(widget)
                gtk_accessible_reset_relation(list.opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
                list.setAccessibleName(name)
            } else {
                nameList(name, in: widget)
            }
        }
    }

    /// Adds a widget beside the heading.
    public func setSuffix(_ widget: Widget) { adw_preferences_group_set_header_suffix(group, widget.widget) }

    /// Replaces the rows. A group without rows is hidden.
    public func show(_ new: [Row]) {
        for row in rows { adw_preferences_group_remove(group, row.widget) }
        rows = new
        for row in new { adw_preferences_group_add(group, row.widget) }
        isVisible = !new.isEmpty
    }
}

/// A row of a group: a title, a subtitle, an icon before them and widgets behind them.
public final class Row: Widget {
    private let icon: Picture?

    /// Creates a row; title and subtitle are plain text.
    ///
    /// - Parameters:
    ///   - icon: the icon's name in the theme.
    ///   - suffix: widgets at the end of the row.
    ///   - action: called when the row is pressed, also by Enter; nil for a row that reacts to nothing.
    public init(
        _ title: String, subtitle: String = "", icon: String? = nil, suffix: [Widget] = [],
        action: (@MainActor () -> Void)? = nil
    ) {
        self.icon = icon.map { Picture($0, points: 16) }
        super.init(adw_action_row_new())
        // Names of apps and items must not be read as markup.
        adw_preferences_row_set_use_markup(raw.assumingMemoryBound(to: AdwPreferencesRow.self), 0)
        adw_action_row_set_title_lines(row, 2)
        adw_action_row_set_subtitle_lines(row, 0)
        if let icon = self.icon { adw_action_row_add_prefix(row, icon.widget) }
        for widget in suffix {
            widget.centre(across: false)
            adw_action_row_add_suffix(row, widget.widget)
        }
        if let action {
            gtk_list_box_row_set_activatable(raw.assumingMemoryBound(to: GtkListBoxRow.self), 1)
            connect(raw, "activated", action)
        }
        show(title, subtitle)
    }

    private var row: UnsafeMutablePointer<AdwActionRow> { raw.assumingMemoryBound(to: AdwActionRow.self) }

    /// Changes title and subtitle.
    public func show(_ title: String, _ subtitle: String = "") {
        adw_preferences_row_set_title(raw.assumingMemoryBound(to: AdwPreferencesRow.self), title)
        adw_action_row_set_subtitle(row, subtitle)
        // The accessible name is the title, to which libadwaita refers.
        setAccessibleDescription(subtitle)
    }

    /// Changes the icon and its style class, such as `warning`.
    public func showIcon(_ name: String, style: String? = nil) {
        icon?.show(name)
        if let style { icon?.setStyle(style) }
    }
}

/// Plain text within markup.
enum Markup {
    static func escaped(_ text: String) -> String {
        guard let escaped = g_markup_escape_text(text, -1) else { return "" }
        defer { g_free(escaped) }
        return String(cString: escaped)
    }
}
