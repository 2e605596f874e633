// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A group of rows in a frame, with a heading and a description above it.
public final class RowGroup: Widget {
    private var rows: [Widget] = []
    private let name: String?

    /// Creates a group of these rows; heading and description are plain text.
    ///
    /// - Parameter name: the accessible name of the list; the heading if it is nil.
    public init(_ title: String = "", description: String = "", name: String? = nil, _ rows: [Widget] = []) {
        self.name = name
        super.init(adw_preferences_group_new())
        wrapHeading(in: widget)
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

    /// Lets the heading have several lines. libadwaita cuts it in a narrow window.
    private func wrapHeading(in parent: UnsafeMutablePointer<GtkWidget>) {
        var child = gtk_widget_get_first_child(parent)
        while let widget = child {
            child = gtk_widget_get_next_sibling(widget)
            guard gtk_widget_has_css_class(widget, "heading") != 0 else {
                wrapHeading(in: widget)
                continue
            }
            gtk_label_set_ellipsize(OpaquePointer(widget), PANGO_ELLIPSIZE_NONE)
            gtk_label_set_wrap(OpaquePointer(widget), 1)
        }
    }

    /// Adds a widget beside the heading.
    public func setSuffix(_ widget: Widget) { adw_preferences_group_set_header_suffix(group, widget.widget) }

    /// Replaces the rows. A group without rows is hidden.
    public func show(_ new: [Widget]) {
        for row in rows { adw_preferences_group_remove(group, row.widget) }
        rows = new
        for row in new { adw_preferences_group_add(group, row.widget) }
        isVisible = !new.isEmpty
    }
}

/// A row of a group: a title, a subtitle, an icon before them and widgets behind them.
public final class Row: Widget {
    private let icon: Picture?
    private let app: AppIcon?

    /// Creates a row; title and subtitle are plain text.
    ///
    /// - Parameters:
    ///   - icon: the icon's name in the theme.
    ///   - app: the name of an app's icon, shown instead where the system has it.
    ///   - mark: a short text at the end, with an icon before it, that says at a glance what sets the row apart.
    ///   - hasMnemonic: whether an underscore in the title precedes the letter that presses the row with Alt; the title must
    ///     then be a text of this program.
    ///   - suffix: widgets at the end of the row.
    ///   - action: called when the row is pressed, also by Enter; nil for a row that reacts to nothing. A row with an action
    ///     and no other widgets ends with an arrow.
    public init(
        _ title: String, subtitle: String = "", icon: String? = nil, app: String? = nil,
        mark: (icon: String, text: String)? = nil, hasMnemonic: Bool = false, suffix: [Widget] = [],
        action: (@MainActor () -> Void)? = nil
    ) {
        let appIcon = app.map { name in
            let icon = AppIcon(points: 24)
            icon.show(name)
            return icon
        }
        self.app = appIcon?.isVisible == true ? appIcon : nil
        self.icon = self.app == nil ? icon.map { Picture($0, points: 16) } : nil
        super.init(adw_action_row_new())
        // Names of apps and items must not be read as markup.
        adw_preferences_row_set_use_markup(raw.assumingMemoryBound(to: AdwPreferencesRow.self), 0)
        // A name of any length; a text of this program needs no more, also in large letters.
        adw_action_row_set_title_lines(row, 4)
        adw_action_row_set_subtitle_lines(row, 0)
        if hasMnemonic {
            adw_preferences_row_set_use_underline(raw.assumingMemoryBound(to: AdwPreferencesRow.self), 1)
        }
        if let icon = self.icon { adw_action_row_add_prefix(row, icon.widget) }
        if let app = self.app { adw_action_row_add_prefix(row, app.widget) }
        let marks = mark.map { mark in
            let text = Label(mark.text, wraps: false, styles: ["caption-heading"])
            return [Box(.across, spacing: 4, [Picture(mark.icon, points: 16), text])]
        }
        let ends = suffix + (marks ?? [])
        for widget in ends {
            widget.centre(across: false)
            adw_action_row_add_suffix(row, widget.widget)
        }
        // Without this, the title would be cut beside wide buttons.
        if !ends.isEmpty, let header = gtk_list_box_row_get_child(raw.assumingMemoryBound(to: GtkListBoxRow.self)) {
            BesideLayout.use(in: header)
        }
        if action != nil, suffix.isEmpty {
            // The arrow of the theme points to the other side in a script from right to left.
            let arrow = Picture("go-next-symbolic", points: 16)
            arrow.setStyle("dim-label")
            adw_action_row_add_suffix(row, arrow.widget)
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

/// A row with a switch at its end, which also a press on the row turns.
public final class SwitchRow: Widget {
    private let row: Row
    private let toggle: UnsafeMutablePointer<GtkWidget>

    /// Creates a row; title and subtitle are plain text.
    ///
    /// - Parameters:
    ///   - name: the accessible name of the switch.
    ///   - action: called with the new state when the person has turned it.
    public init(
        _ title: String, subtitle: String, icon: String, name: String, isOn: Bool,
        action: @escaping @MainActor (Bool) -> Void
    ) {
        toggle = gtk_switch_new()
        let place = Widget(toggle)
        place.setAccessibleName(name)
        gtk_switch_set_active(place.opaque, isOn ? 1 : 0)
        row = Row(title, subtitle: subtitle, icon: icon, suffix: [place])
        super.init(row.widget)
        adw_action_row_set_activatable_widget(raw.assumingMemoryBound(to: AdwActionRow.self), toggle)
        // libadwaita names it by the title of the row, which says nothing about its two states.
        gtk_accessible_reset_relation(place.opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        place.setAccessibleName(name)
        observe(place.raw, "active") { [weak self] in
            guard let self else { return }
            action(gtk_switch_get_active(OpaquePointer(toggle)) != 0)
        }
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
