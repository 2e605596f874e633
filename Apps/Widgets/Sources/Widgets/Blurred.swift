// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A widget in front of a blurred picture of a list and a text. The picture contains no real text: it consists of
/// bars of fixed widths, which are hidden from assistive technology.
public final class Blurred: Widget {
    /// Places `front` in the middle.
    public init(_ front: Widget) {
        super.init(gtk_overlay_new())
        Style.use(Self.style)
        gtk_overlay_set_child(opaque, Self.behind().widget)
        gtk_overlay_add_overlay(opaque, front.widget)
        gtk_overlay_set_measure_overlay(opaque, front.widget, 1)
        expand(across: true, down: true)
    }

    private static let rows: [Int32] = [150, 120, 170, 100, 140, 160, 110, 130]
    private static let lines: [Int32] = [240, 430, 460, 390, 450, 200, 0, 420, 470, 360, 440, 120]

    private static func behind() -> Widget {
        let list = column(rows.flatMap { [$0, $0 * 2 / 3, 0] }, width: 220)
        let text = column(lines, width: -1)
        text.expand(across: true)
        let both = bare(.across, [list, text])
        // Bars wider than the window are clipped and do not widen it.
        let frame: UnsafeMutablePointer<GtkWidget> = gtk_scrolled_window_new()
        gtk_scrolled_window_set_policy(OpaquePointer(frame), GTK_POLICY_EXTERNAL, GTK_POLICY_EXTERNAL)
        gtk_scrolled_window_set_child(OpaquePointer(frame), both.widget)
        gtk_widget_set_can_target(frame, 0)
        gtk_widget_set_can_focus(frame, 0)
        return Widget(frame)
    }

    /// A column of bars with these widths; 0 is a gap.
    private static func column(_ widths: [Int32], width: Int32) -> Widget {
        let column = bare(
            .down,
            widths.map { width in
                let bar = bare(.across, [])
                bar.setWidth(width)
                gtk_widget_set_halign(bar.widget, GTK_ALIGN_START)
                bar.setStyle("latchkey-bar", width > 0)
                return bar
            })
        column.setWidth(width)
        column.setMargin(30, sides: 24)
        return column
    }

    /// A box that is hidden from assistive technology.
    private static func bare(_ direction: Box.Direction, _ content: [Widget]) -> Widget {
        guard let made = Widget.make(gtk_box_get_type(), role: GTK_ACCESSIBLE_ROLE_PRESENTATION) else {
            return Box(direction, content)
        }
        let box = Widget(made)
        gtk_orientable_set_orientation(
            box.opaque, direction == .down ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL)
        gtk_box_set_spacing(box.raw.assumingMemoryBound(to: GtkBox.self), 23)
        for widget in content { gtk_box_append(box.raw.assumingMemoryBound(to: GtkBox.self), widget.widget) }
        return box
    }

    /// Uses a shadow, because a filter shows edges where a widget over it is redrawn alone.
    private static let style = """
        .latchkey-bar {
            min-height: 1px; background-color: alpha(currentColor, 0.055);
            box-shadow: 0 0 20px 7px alpha(currentColor, 0.1);
        }
        """
}
