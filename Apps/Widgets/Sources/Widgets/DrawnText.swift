// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Lines of text that are drawn: assistive technology gets the name of the drawing, and not the text.
///
/// A label of GTK gives its text to each program that asks for it on the accessibility bus.
public final class DrawnText: Widget {
    private var lines: [String] = []

    /// Creates a hidden drawing.
    ///
    /// - Parameters:
    ///   - name: the accessible name.
    ///   - styles: the style classes, which choose the font.
    public init(_ name: String, styles: [String]) {
        super.init(Widget.make(gtk_drawing_area_get_type(), role: GTK_ACCESSIBLE_ROLE_IMG) ?? gtk_drawing_area_new())
        setAccessibleName(name)
        for style in styles { setStyle(style) }
        centre()
        isVisible = false
        let draw:
            @convention(c) (UnsafeMutablePointer<GtkDrawingArea>?, OpaquePointer?, Int32, Int32, gpointer?) -> Void = {
                _, context, width, _, data in
                guard let context, let data else { return }
                MainActor.assumeIsolated {
                    Unmanaged<Held>.fromOpaque(data).takeUnretainedValue().text?.draw(context, width)
                }
            }
        let held = Held()
        held.text = self
        let drop: @convention(c) (gpointer?) -> Void = { data in
            if let data { Unmanaged<Held>.fromOpaque(data).release() }
        }
        gtk_drawing_area_set_draw_func(area, draw, Unmanaged.passRetained(held).toOpaque(), drop)
    }

    /// A weak reference for the callback, which can outlive this object.
    private final class Held {
        weak var text: DrawnText?
    }

    private var area: UnsafeMutablePointer<GtkDrawingArea> { raw.assumingMemoryBound(to: GtkDrawingArea.self) }

    /// Shows these lines in the middle below each other; hides the drawing when there are none.
    public func show(_ lines: [String]) {
        guard lines != self.lines else { return }
        self.lines = lines
        let sizes = lines.map { line in withLayout(line) { _, width, height in (width, height) } ?? (0, 0) }
        gtk_drawing_area_set_content_width(area, sizes.map(\.0).max() ?? 0)
        gtk_drawing_area_set_content_height(area, sizes.map(\.1).reduce(0, +))
        isVisible = !lines.isEmpty
        gtk_widget_queue_draw(widget)
    }

    private func draw(_ context: OpaquePointer, _ width: Int32) {
        var colour = GdkRGBA()
        gtk_style_context_get_color(gtk_widget_get_style_context(widget), &colour)
        gdk_cairo_set_source_rgba(context, &colour)
        var top: Int32 = 0
        for line in lines {
            _ = withLayout(line) { layout, lineWidth, height in
                cairo_move_to(context, Double(max(0, width - lineWidth) / 2), Double(top))
                pango_cairo_show_layout(context, layout)
                top += height
            }
        }
    }

    private func withLayout<Result>(_ line: String, _ body: (OpaquePointer, Int32, Int32) -> Result) -> Result? {
        guard let layout = gtk_widget_create_pango_layout(widget, line) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
        var (width, height): (Int32, Int32) = (0, 0)
        pango_layout_get_pixel_size(layout, &width, &height)
        return body(layout, width, height)
    }
}
