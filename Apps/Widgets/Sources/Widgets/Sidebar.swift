// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// The list of a window's pages, one of which is selected.
public final class Sidebar: Widget {
    private let list: OpaquePointer
    private var rows: [UnsafeMutablePointer<GtkListBoxRow>] = []

    /// Creates a list of pages.
    ///
    /// - Parameters:
    ///   - name: the accessible name.
    ///   - pages: icon and title of each page.
    ///   - opened: called when the user opens the page with this number.
    public init(_ name: String, _ pages: [(icon: String, title: String)], opened: @escaping @MainActor (Int) -> Void) {
        let list: UnsafeMutablePointer<GtkWidget> = gtk_list_box_new()
        self.list = OpaquePointer(list)
        gtk_widget_add_css_class(list, "navigation-sidebar")
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(opaque, list)
        Widget(list).setAccessibleName(name)
        expand(down: true)
        for page in pages {
            let label = Label(page.title, wraps: false)
            let box = Box(.across, spacing: 12, [Picture(page.icon, points: 16), label])
            box.setMargin(6, sides: 4)
            let row: UnsafeMutablePointer<GtkWidget> = gtk_list_box_row_new()
            rows.append(UnsafeMutableRawPointer(row).assumingMemoryBound(to: GtkListBoxRow.self))
            gtk_list_box_row_set_child(
                UnsafeMutableRawPointer(row).assumingMemoryBound(to: GtkListBoxRow.self), box.widget)
            Widget(row).setAccessibleName(page.title)
            gtk_list_box_append(self.list, row)
        }
        let activated: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
        }
        // A row is selected before it is activated.
        attach(UnsafeMutableRawPointer(list), "row-activated", unsafeBitCast(activated, to: GCallback.self)) {
            [weak self] in
            guard let self, let page = selected else { return }
            opened(page)
        }
    }

    /// The number of the selected page.
    public var selected: Int? {
        guard let row = gtk_list_box_get_selected_row(list) else { return nil }
        return rows.firstIndex(of: row)
    }

    /// Selects a page without calling `opened`.
    public func select(_ page: Int) {
        guard rows.indices.contains(page), selected != page else { return }
        gtk_list_box_select_row(list, rows[page])
    }

    /// Moves the focus to the selected page.
    public func focusSelected() {
        guard let page = selected else { return }
        gtk_widget_grab_focus(UnsafeMutableRawPointer(rows[page]).assumingMemoryBound(to: GtkWidget.self))
    }
}
