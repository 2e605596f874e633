// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A text with buttons at its end. They are below the text where it would have no room beside them: in a narrow window, with
/// large text or in a language with long words.
public final class Beside: Widget {
    /// Creates a place with a text, or a control, and what is at its end.
    public init(_ text: Widget, _ end: Widget) {
        super.init(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0))
        for part in [text, end] { gtk_widget_insert_before(part.widget, widget, nil) }
        BesideLayout.use(in: widget)
    }
}

/// Places the children of a widget beside each other, and the last one below the others where the one before it would become
/// too narrow. GTK has no such layout.
@MainActor enum BesideLayout {
    private static let spacing: Int32 = 6
    private static let endSpacing: Int32 = 12
    /// What a text needs at least to be read beside something else.
    private static let leastCharacters: Int32 = 20

    /// Replaces the layout of a widget with at least two children, the last two of which are the text and what is at its end.
    static func use(in widget: UnsafeMutablePointer<GtkWidget>) {
        let mode: GtkCustomRequestModeFunc = { _ in GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH }
        let measure: GtkCustomMeasureFunc = { widget, orientation, size, least, natural, _, _ in
            guard let widget else { return }
            let (all, rest) = MainActor.assumeIsolated {
                let parts = Parts(widget)
                let found = orientation == GTK_ORIENTATION_HORIZONTAL ? parts.width : parts.height(inWidth: size)
                return (found.least, found.natural)
            }
            least?.pointee = all
            natural?.pointee = rest
        }
        let allocate: GtkCustomAllocateFunc = { widget, width, height, _ in
            guard let widget else { return }
            MainActor.assumeIsolated { Parts(widget).place(width: width, height: height) }
        }
        gtk_widget_set_layout_manager(widget, gtk_custom_layout_new(mode, measure, allocate))
    }

    private typealias Child = UnsafeMutablePointer<GtkWidget>

    private struct Size {
        var least: Int32 = 0
        var natural: Int32 = 0
    }

    /// The children, measured.
    @MainActor private struct Parts {
        let parent: Child
        /// Those before the text, and the width of each.
        var front: [(child: Child, width: Int32)] = []
        var text: Child?
        var end: Child?
        var textWidth = Size()
        var endWidth = Size()

        init(_ parent: Child) {
            self.parent = parent
            guard let last = gtk_widget_get_last_child(parent), let before = gtk_widget_get_prev_sibling(last) else {
                return
            }
            text = gtk_widget_should_layout(before) != 0 ? before : nil
            end = gtk_widget_should_layout(last) != 0 ? last : nil
            textWidth = text.map { Self.size($0, GTK_ORIENTATION_HORIZONTAL) } ?? Size()
            endWidth = end.map { Self.size($0, GTK_ORIENTATION_HORIZONTAL) } ?? Size()
            var child = gtk_widget_get_first_child(parent)
            while let found = child, found != before {
                child = gtk_widget_get_next_sibling(found)
                guard gtk_widget_should_layout(found) != 0 else { continue }
                front.append((found, Self.size(found, GTK_ORIENTATION_HORIZONTAL).natural))
            }
        }

        static func size(_ child: Child, _ orientation: GtkOrientation, _ other: Int32 = -1) -> Size {
            var size = Size()
            gtk_widget_measure(child, orientation, other, &size.least, &size.natural, nil, nil)
            return size
        }

        private var frontWidth: Int32 { front.reduce(0) { $0 + $1.width + spacing } }
        /// The width of the end with the space before it, beside the text.
        private var besideWidth: Int32 { end == nil ? 0 : endWidth.natural + endSpacing }

        var width: Size {
            Size(
                least: max(frontWidth + textWidth.least, endWidth.least),
                natural: frontWidth + textWidth.natural + besideWidth)
        }

        /// Whether the end is beside the text in this width.
        private func isBeside(_ width: Int32) -> Bool {
            guard end != nil else { return true }
            let metrics = pango_context_get_metrics(gtk_widget_get_pango_context(parent), nil, nil)
            defer { pango_font_metrics_unref(metrics) }
            // Pango's unit is a part of a point.
            let character = pango_font_metrics_get_approximate_char_width(metrics) / PANGO_SCALE
            let wanted = max(textWidth.least, min(textWidth.natural, leastCharacters * character))
            return width - frontWidth - besideWidth >= wanted
        }

        /// The widths of text and end in this width of all.
        private func widths(_ width: Int32) -> (isBeside: Bool, text: Int32, end: Int32) {
            let isBeside = isBeside(width)
            let text = width - frontWidth - (isBeside ? besideWidth : 0)
            // GTK measures no widget in less than its least width.
            return (
                isBeside, max(text, textWidth.least),
                isBeside ? endWidth.natural : max(endWidth.least, min(width, endWidth.natural))
            )
        }

        /// The height of what is before the text and of the text.
        private func textHeight(_ width: Int32) -> Size {
            var all = text.map { Self.size($0, GTK_ORIENTATION_VERTICAL, width) } ?? Size()
            for (child, width) in front {
                let size = Self.size(child, GTK_ORIENTATION_VERTICAL, width)
                all = Size(least: max(all.least, size.least), natural: max(all.natural, size.natural))
            }
            return all
        }

        func height(inWidth size: Int32) -> Size {
            let widths = widths(size < 0 ? width.natural : size)
            let all = textHeight(widths.text)
            guard let end else { return all }
            let last = Self.size(end, GTK_ORIENTATION_VERTICAL, widths.end)
            guard !widths.isBeside else {
                return Size(least: max(all.least, last.least), natural: max(all.natural, last.natural))
            }
            return Size(least: all.least + last.least + 2 * spacing, natural: all.natural + last.natural + 2 * spacing)
        }

        func place(width: Int32, height: Int32) {
            let widths = widths(width)
            let isFromRight = gtk_widget_get_direction(parent) == GTK_TEXT_DIR_RTL
            func put(_ child: Child, _ left: Int32, _ top: Int32, _ size: Int32, _ height: Int32) {
                var place = GtkAllocation(
                    x: isFromRight ? width - left - size : left, y: top, width: size, height: height)
                gtk_widget_size_allocate(child, &place, -1)
            }
            let first = widths.isBeside ? height : textHeight(widths.text).natural
            var left: Int32 = 0
            for (child, width) in front {
                put(child, left, 0, width, first)
                left += width + spacing
            }
            if let text { put(text, left, 0, widths.text, first) }
            guard let end else { return }
            if widths.isBeside {
                // In a higher place GTK would wrap the title of a button, and leave the rest of the width empty.
                let own = min(height, Self.size(end, GTK_ORIENTATION_VERTICAL, widths.end).natural)
                put(end, width - widths.end, (height - own) / 2, widths.end, own)
            } else {
                let top = first + spacing
                let least = Self.size(end, GTK_ORIENTATION_VERTICAL, widths.end).least
                put(end, width - widths.end, top, widths.end, max(least, height - top - spacing))
            }
        }
    }
}
