// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// A list of rows with a title and a subtitle, one of which may be selected. Only visible rows have widgets, so that
/// a long list costs no more than a short one.
public final class RowList: Widget {
    /// A row, identified by its id.
    public struct Row: Hashable, Sendable {
        /// Identifies the row.
        public var id: String
        /// The title.
        public var title: String
        /// The time shown in the subtitle, in seconds since an epoch of the caller's choice.
        public var time: Double
        /// The text before the time in the subtitle; may be empty.
        public var mark: String

        /// Creates a row.
        public init(id: String, title: String, time: Double, mark: String) {
            self.id = id
            self.title = title
            self.time = time
            self.mark = mark
        }
    }

    private let timeWords: (Double) -> String
    private let strings: OpaquePointer
    private let selection: OpaquePointer
    private var rows: [Row] = []
    private var byID: [String: Row] = [:]
    /// The list items that have widgets, with the ids of their rows.
    private var bound: [OpaquePointer: String] = [:]
    private var isSetting = false

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - name: the accessible name.
    ///   - timeWords: formats a row's time; called when the row becomes visible.
    ///   - opened: called when the user opens the selected row (Enter, a double click).
    ///   - chosen: called when the user selects the row with this id, or none.
    public init(
        _ name: String, timeWords: @escaping (Double) -> String, opened: @escaping @MainActor () -> Void,
        chosen: @escaping @MainActor (String?) -> Void
    ) {
        self.timeWords = timeWords
        strings = gtk_string_list_new(nil)
        selection = gtk_single_selection_new(strings)
        gtk_single_selection_set_autoselect(selection, 0)
        gtk_single_selection_set_can_unselect(selection, 1)
        let factory = gtk_signal_list_item_factory_new()
        let list: UnsafeMutablePointer<GtkWidget> = gtk_list_view_new(selection, factory)
        gtk_widget_add_css_class(list, "navigation-sidebar")
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(opaque, list)
        Widget(list).setAccessibleName(name)
        expand(across: true, down: true)
        if let factory { connectFactory(UnsafeMutableRawPointer(factory)) }
        let open: @convention(c) (gpointer?, guint, gpointer?) -> Void = { list, place, data in
            guard let list else { return }
            let action = Action.of(data)
            gtk_selection_model_select_item(gtk_list_view_get_model(OpaquePointer(list)), place, 1)
            MainActor.assumeIsolated { action?.run() }
        }
        attach(UnsafeMutableRawPointer(list), "activate", unsafeBitCast(open, to: GCallback.self), opened)
        observe(UnsafeMutableRawPointer(selection), "selected") { [weak self] in
            guard let self, !isSetting else { return }
            chosen(selectedID)
        }
    }

    private var selectedID: String? {
        let place = Int(gtk_single_selection_get_selected(selection))
        return rows.indices.contains(place) ? rows[place].id : nil
    }

    /// Shows rows and selects one; changes only widgets whose rows differ.
    public func show(_ new: [Row], selected: String?) {
        isSetting = true
        defer { isSetting = false }
        if new != rows { replace(new) }
        guard selectedID != selected else { return }
        let place = selected.flatMap { id in rows.firstIndex { $0.id == id } }
        gtk_single_selection_set_selected(selection, place.map(UInt32.init) ?? UInt32.max)
    }

    private func replace(_ new: [Row]) {
        let common = min(rows.count, new.count)
        var first = 0
        while first < common, rows[first].id == new[first].id { first += 1 }
        var last = 0
        while last < common - first, rows[rows.count - 1 - last].id == new[new.count - 1 - last].id { last += 1 }
        let removed = rows.count - first - last
        let added = new[first..<(new.count - last)].map(\.id)
        rows = new
        byID = Dictionary(new.map { ($0.id, $0) }) { first, _ in first }
        if removed > 0 || !added.isEmpty {
            var ids = added.map { strdup($0).map { UnsafePointer($0) } } + [nil]
            gtk_string_list_splice(strings, UInt32(first), UInt32(removed), &ids)
            for id in ids { free(UnsafeMutableRawPointer(mutating: id)) }
        }
        for (item, id) in bound { fill(item, byID[id]) }
    }

    // MARK: - Widgets of rows

    private func connectFactory(_ factory: UnsafeMutableRawPointer) {
        let make: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, item, _ in
            guard let item else { return }
            MainActor.assumeIsolated { RowList.makeRow(OpaquePointer(item)) }
        }
        g_signal_connect_data(
            factory, "setup", unsafeBitCast(make, to: GCallback.self), nil, nil, GConnectFlags(0))
        // Never released: the list exists as long as its window, and the window as long as the process.
        let me = Unmanaged.passRetained(self).toOpaque()
        let bind: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, item, data in
            guard let item, let data else { return }
            MainActor.assumeIsolated {
                Unmanaged<RowList>.fromOpaque(data).takeUnretainedValue().bind(OpaquePointer(item))
            }
        }
        g_signal_connect_data(factory, "bind", unsafeBitCast(bind, to: GCallback.self), me, nil, GConnectFlags(0))
        let unbind: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, item, data in
            guard let item, let data else { return }
            MainActor.assumeIsolated {
                Unmanaged<RowList>.fromOpaque(data).takeUnretainedValue().unbind(OpaquePointer(item))
            }
        }
        g_signal_connect_data(factory, "unbind", unsafeBitCast(unbind, to: GCallback.self), me, nil, GConnectFlags(0))
    }

    private static func makeRow(_ item: OpaquePointer) {
        let box = Box(.down, spacing: 2)
        for style in ["heading", "caption"] {
            let label: UnsafeMutablePointer<GtkWidget> = gtk_label_new(nil)
            gtk_label_set_xalign(OpaquePointer(label), 0)
            gtk_label_set_ellipsize(OpaquePointer(label), PANGO_ELLIPSIZE_END)
            gtk_label_set_use_markup(OpaquePointer(label), 0)
            gtk_widget_add_css_class(label, style)
            box.append(Widget(label))
        }
        if let subtitle = gtk_widget_get_last_child(box.widget) {
            gtk_widget_add_css_class(subtitle, "dim-label")
            // With large text the time has no room in one line.
            gtk_label_set_wrap(OpaquePointer(subtitle), 1)
            gtk_label_set_lines(OpaquePointer(subtitle), 3)
        }
        box.setMargin(6, sides: 2)
        gtk_list_item_set_child(item, box.widget)
    }

    private func bind(_ item: OpaquePointer) {
        guard let object = gtk_list_item_get_item(item),
            let text = gtk_string_object_get_string(OpaquePointer(object))
        else { return }
        let id = String(cString: text)
        bound[item] = id
        fill(item, byID[id])
    }

    /// Clears the text of a widget that may be reused for another row, or not at all.
    private func unbind(_ item: OpaquePointer) {
        bound[item] = nil
        fill(item, nil)
    }

    private func fill(_ item: OpaquePointer, _ row: Row?) {
        guard let box = gtk_list_item_get_child(item), let title = gtk_widget_get_first_child(box),
            let subtitle = gtk_widget_get_last_child(box)
        else { return }
        gtk_label_set_text(OpaquePointer(title), row?.title ?? "")
        let second = row.map { $0.mark + timeWords($0.time) } ?? ""
        gtk_label_set_text(OpaquePointer(subtitle), second)
        guard let place = gtk_widget_get_parent(box) else { return }
        Widget(place).setAccessibleName(row.map { "\($0.title), \(second)" } ?? "")
    }
}
