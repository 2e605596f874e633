// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A password field with a button that reveals the typed text.
///
/// GTK's own button (`gtk_password_entry_set_show_peek_icon`) turns the field into one for ordinary text: the text is
/// copied as a whole into layouts that are freed without being wiped, and exposed to assistive technology. Here GTK has
/// dots only, and the characters are drawn over them, each from a layout of its own, directly from the field's memory.
public final class RevealingField: Widget {
    /// The field itself.
    public let field: PasswordField
    private let cover: UnsafeMutablePointer<GtkWidget>
    private let toggle: UnsafeMutablePointer<GtkWidget>

    /// Creates a field that calls `action` when Enter is pressed.
    ///
    /// - Parameter showTitle: the accessible name of the button.
    public init(_ name: String, showTitle: String, _ action: @escaping @MainActor () -> Void) {
        field = PasswordField(name, action)
        cover =
            Widget.make(gtk_drawing_area_get_type(), role: GTK_ACCESSIBLE_ROLE_PRESENTATION) ?? gtk_drawing_area_new()
        toggle = gtk_toggle_button_new()
        let overlay: UnsafeMutablePointer<GtkWidget> = gtk_overlay_new()
        gtk_overlay_set_child(OpaquePointer(overlay), field.widget)
        gtk_overlay_add_overlay(OpaquePointer(overlay), cover)
        gtk_widget_set_hexpand(overlay, 1)
        super.init(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0))
        setStyle("linked")
        let box = raw.assumingMemoryBound(to: GtkBox.self)
        gtk_box_append(box, overlay)
        gtk_box_append(box, toggle)
        makeCover()
        let button = Widget(toggle)
        gtk_button_set_icon_name(button.raw.assumingMemoryBound(to: GtkButton.self), "view-reveal-symbolic")
        // The focus stays in the field.
        gtk_widget_set_focus_on_click(toggle, 0)
        button.setAccessibleName(showTitle)
        button.setToolTip(showTitle)
        connect(button.raw, "toggled") { [weak self] in self?.showOrHide() }
        // GtkEditable forwards this signal from the text widget within the field.
        connect(field.raw, "changed") { [weak self] in self?.redraw() }
    }

    /// Whether the typed text is drawn.
    public var isRevealed: Bool { gtk_toggle_button_get_active(toggleButton) != 0 }

    /// Draws the typed text, or shows dots.
    public func reveal(_ isRevealed: Bool) { gtk_toggle_button_set_active(toggleButton, isRevealed ? 1 : 0) }

    private var toggleButton: UnsafeMutablePointer<GtkToggleButton> {
        UnsafeMutableRawPointer(toggle).assumingMemoryBound(to: GtkToggleButton.self)
    }

    private func showOrHide() {
        gtk_button_set_icon_name(
            UnsafeMutableRawPointer(toggle).assumingMemoryBound(to: GtkButton.self),
            isRevealed ? "view-conceal-symbolic" : "view-reveal-symbolic")
        redraw()
    }

    private func redraw() {
        let shows = isRevealed && !field.isEmpty
        // Makes the dots and the cursor of the field transparent.
        field.setStyle("latchkey-revealed", shows)
        gtk_widget_set_visible(cover, shows ? 1 : 0)
        gtk_widget_queue_draw(cover)
    }

    private func makeCover() {
        Style.use(".latchkey-revealed > text { color: transparent; caret-color: transparent; }")
        // Pointer events pass through to the field.
        gtk_widget_set_can_target(cover, 0)
        gtk_widget_set_can_focus(cover, 0)
        gtk_widget_set_margin_start(cover, Self.inset)
        gtk_widget_set_margin_end(cover, Self.inset)
        gtk_widget_set_margin_top(cover, Self.border)
        gtk_widget_set_margin_bottom(cover, Self.border)
        gtk_widget_set_overflow(cover, GTK_OVERFLOW_HIDDEN)
        gtk_widget_set_visible(cover, 0)
        let draw:
            @convention(c) (UnsafeMutablePointer<GtkDrawingArea>?, OpaquePointer?, Int32, Int32, gpointer?) -> Void = {
                area, context, width, height, text in
                guard let area, let context, let text else { return }
                MainActor.assumeIsolated {
                    RevealingField.draw(
                        UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkWidget.self), context, width, height,
                        Unmanaged<ConcealedText>.fromOpaque(text).takeUnretainedValue().characters)
                }
            }
        gtk_drawing_area_set_draw_func(
            UnsafeMutableRawPointer(cover).assumingMemoryBound(to: GtkDrawingArea.self), draw,
            Unmanaged.passRetained(field.text).toOpaque(),
            { text in
                if let text { Unmanaged<ConcealedText>.fromOpaque(text).release() }
            })
    }

    private static let inset: Int32 = 8
    private static let border: Int32 = 2

    /// Draws each character of the field from a layout that contains no other. Shows the end of a text that is too
    /// long.
    private static func draw(
        _ area: UnsafeMutablePointer<GtkWidget>, _ context: OpaquePointer, _ width: Int32, _ height: Int32,
        _ text: UnsafePointer<CChar>
    ) {
        guard let layout = gtk_widget_create_pango_layout(area, nil) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
        var colour = GdkRGBA()
        gtk_style_context_get_color(gtk_widget_get_style_context(area), &colour)
        gdk_cairo_set_source_rgba(context, &colour)
        var (characterWidth, characterHeight): (Int32, Int32) = (0, 0)
        func lay(_ character: UnsafePointer<CChar>) -> Int {
            let length = latchkey_character_length(character)
            pango_layout_set_text(layout, character, length)
            pango_layout_get_pixel_size(layout, &characterWidth, &characterHeight)
            return Int(length)
        }
        var (place, whole): (UnsafePointer<CChar>, Int32) = (text, 0)
        while place.pointee != 0 {
            place += lay(place)
            whole += characterWidth
        }
        var across = min(0, width - whole - 2)
        place = text
        while place.pointee != 0 {
            let length = lay(place)
            cairo_move_to(context, Double(across), Double((height - characterHeight) / 2))
            pango_cairo_show_layout(context, layout)
            across += characterWidth
            place += length
        }
        // Draws a cursor, since the field's own is transparent.
        cairo_rectangle(context, Double(across), Double(height) * 0.2, 1, Double(height) * 0.6)
        cairo_fill(context)
    }
}
