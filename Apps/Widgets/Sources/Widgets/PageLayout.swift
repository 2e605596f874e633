// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Places the two children of a widget below each other in the middle of its height: a scrolled content, and a foot. Where both
/// have no room the content scrolls, and the foot stays in sight. GTK has no such layout: a box would measure the content in
/// its least width.
@MainActor enum PageLayout {
    private typealias Child = UnsafeMutablePointer<GtkWidget>

    /// Replaces the layout of a widget whose children are a scrolled window and a foot.
    static func use(in widget: UnsafeMutablePointer<GtkWidget>) {
        let mode: GtkCustomRequestModeFunc = { _ in GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH }
        let measure: GtkCustomMeasureFunc = { widget, orientation, size, least, natural, _, _ in
            guard let widget else { return }
            let found = MainActor.assumeIsolated { PageLayout.measure(widget, orientation, size) }
            least?.pointee = found.least
            natural?.pointee = found.natural
        }
        let allocate: GtkCustomAllocateFunc = { widget, width, height, _ in
            guard let widget else { return }
            MainActor.assumeIsolated { PageLayout.place(widget, width, height) }
        }
        gtk_widget_set_layout_manager(widget, gtk_custom_layout_new(mode, measure, allocate))
    }

    private static func size(
        _ child: Child, _ orientation: GtkOrientation, _ other: Int32
    ) -> (least: Int32, natural: Int32) {
        var (least, natural): (Int32, Int32) = (0, 0)
        gtk_widget_measure(child, orientation, other, &least, &natural, nil, nil)
        return (least, natural)
    }

    private static func parts(_ page: Child) -> (scroller: Child, content: Child, foot: Child)? {
        guard let scroller = gtk_widget_get_first_child(page), let foot = gtk_widget_get_last_child(page),
            let viewport = gtk_scrolled_window_get_child(OpaquePointer(scroller)),
            let content = gtk_widget_get_first_child(viewport)
        else { return nil }
        return (scroller, content, foot)
    }

    private static func measure(
        _ page: Child, _ orientation: GtkOrientation, _ other: Int32
    ) -> (least: Int32, natural: Int32) {
        guard let parts = parts(page) else { return (0, 0) }
        guard orientation == GTK_ORIENTATION_VERTICAL else {
            let (scroller, foot) = (size(parts.scroller, orientation, -1), size(parts.foot, orientation, -1))
            return (max(scroller.least, foot.least), max(scroller.natural, foot.natural))
        }
        // GTK measures no widget in less than its least width.
        let width = other < 0 ? other : max(other, measure(page, GTK_ORIENTATION_HORIZONTAL, -1).least)
        let foot = size(parts.foot, orientation, width).natural
        return (
            size(parts.scroller, orientation, width).least + foot,
            size(parts.content, orientation, width).natural + foot
        )
    }

    private static func place(_ page: Child, _ width: Int32, _ height: Int32) {
        guard let parts = parts(page) else { return }
        let least = size(parts.scroller, GTK_ORIENTATION_VERTICAL, width).least
        let foot = min(size(parts.foot, GTK_ORIENTATION_VERTICAL, width).natural, max(0, height - least))
        let content = min(size(parts.content, GTK_ORIENTATION_VERTICAL, width).natural, height - foot)
        let top = (height - foot - content) / 2
        for (child, y, height) in [(parts.scroller, top, content), (parts.foot, top + content, foot)] {
            var place = GtkAllocation(x: 0, y: y, width: width, height: max(0, height))
            gtk_widget_size_allocate(child, &place, -1)
        }
    }
}
