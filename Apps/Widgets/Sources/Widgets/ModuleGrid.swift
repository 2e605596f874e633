// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A picture of dark and light squares, such as a QR code: black on white in every colour scheme, with the light margin
/// that readers need.
public final class ModuleGrid: Widget {
    private var modules: [[Bool]] = []
    /// Width and height of a module.
    public var points: Int32 { didSet { if points != oldValue { resize() } } }

    /// Light modules around the picture, as ISO/IEC 18004 requires.
    private static let margin = 4

    /// Creates a hidden picture.
    ///
    /// - Parameters:
    ///   - name: the accessible name.
    ///   - points: width and height of a module.
    public init(_ name: String, points: Int32) {
        self.points = points
        super.init(Widget.make(gtk_drawing_area_get_type(), role: GTK_ACCESSIBLE_ROLE_IMG) ?? gtk_drawing_area_new())
        setAccessibleName(name)
        centre()
        isVisible = false
        let draw:
            @convention(c) (UnsafeMutablePointer<GtkDrawingArea>?, OpaquePointer?, Int32, Int32, gpointer?) -> Void = {
                _, context, _, _, data in
                guard let context, let data else { return }
                MainActor.assumeIsolated {
                    Unmanaged<Held>.fromOpaque(data).takeUnretainedValue().grid?.draw(context)
                }
            }
        let held = Held()
        held.grid = self
        let drop: @convention(c) (gpointer?) -> Void = { data in
            if let data { Unmanaged<Held>.fromOpaque(data).release() }
        }
        gtk_drawing_area_set_draw_func(area, draw, Unmanaged.passRetained(held).toOpaque(), drop)
    }

    /// A weak reference for the callback, which can outlive this object.
    private final class Held {
        weak var grid: ModuleGrid?
    }

    private var area: UnsafeMutablePointer<GtkDrawingArea> { raw.assumingMemoryBound(to: GtkDrawingArea.self) }

    /// Shows these modules, row by row; hides the picture when there are none.
    public func show(_ modules: [[Bool]]) {
        guard modules != self.modules else { return }
        self.modules = modules
        isVisible = !modules.isEmpty
        resize()
    }

    private func resize() {
        let size = Int32(clamping: modules.count + 2 * Self.margin) * points
        gtk_drawing_area_set_content_width(area, size)
        gtk_drawing_area_set_content_height(area, size)
        gtk_widget_queue_draw(widget)
    }

    private func draw(_ context: OpaquePointer) {
        let side = Double(points)
        let size = Double(modules.count + 2 * Self.margin) * side
        cairo_set_source_rgb(context, 1, 1, 1)
        cairo_rectangle(context, 0, 0, size, size)
        cairo_fill(context)
        cairo_set_source_rgb(context, 0, 0, 0)
        for (row, line) in modules.enumerated() {
            for (column, isDark) in line.enumerated() where isDark {
                cairo_rectangle(
                    context, Double(column + Self.margin) * side, Double(row + Self.margin) * side, side, side)
            }
        }
        cairo_fill(context)
    }
}
