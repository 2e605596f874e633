// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Text, never markup: what a caller wrote is shown as it wrote it.
public final class Label: Widget {
    /// Makes a label that breaks its text into at most so many lines; the last one then ends with an ellipsis.
    ///
    /// - Parameter announces: whether a screen reader says what it shows as soon as that changes.
    public init(lines: Int, styles: [String] = [], announces: Bool = false) {
        // GTK maps this role to AT-SPI's alert, which screen readers read out when it comes up.
        let made = announces ? Widget.make(gtk_label_get_type(), role: GTK_ACCESSIBLE_ROLE_ALERT) : nil
        super.init(made ?? gtk_label_new(nil))
        gtk_label_set_use_markup(opaque, 0)
        gtk_label_set_wrap(opaque, 1)
        gtk_label_set_wrap_mode(opaque, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_natural_wrap_mode(opaque, GTK_NATURAL_WRAP_NONE)
        gtk_label_set_lines(opaque, Int32(clamping: lines))
        gtk_label_set_ellipsize(opaque, PANGO_ELLIPSIZE_END)
        // The window has its width, whatever is written in it.
        gtk_label_set_max_width_chars(opaque, 1)
        gtk_label_set_justify(opaque, GTK_JUSTIFY_CENTER)
        for style in styles { setStyle(style) }
    }

    /// The text.
    public var text: String {
        get { gtk_label_get_text(opaque).map { String(cString: $0) } ?? "" }
        set { gtk_label_set_text(opaque, newValue) }
    }

    /// Shows a text, or nothing, and takes no room for nothing.
    public func show(_ text: String?) {
        self.text = text ?? ""
        isVisible = text?.isEmpty == false
    }

    /// Shows a text and has it read out.
    public func announce(_ text: String) {
        guard text != self.text else { return }
        // Comes up anew, since that is what is announced.
        isVisible = false
        show(text)
        if !text.isEmpty { _ = latchkey_announce(widget, text) }
    }
}

/// A picture of the theme, or a sign that something goes on.
public final class Picture: Widget {
    private let image: UnsafeMutablePointer<GtkWidget>
    private let spinner: UnsafeMutablePointer<GtkWidget>

    /// A picture of so many points.
    public init(points: Int32) {
        image = Widget.make(gtk_image_get_type(), role: GTK_ACCESSIBLE_ROLE_PRESENTATION) ?? gtk_image_new()
        spinner = gtk_spinner_new()
        // What it shows is said in words beside it.
        super.init(gtk_center_box_new())
        gtk_image_set_pixel_size(OpaquePointer(image), points)
        gtk_widget_set_size_request(spinner, points, points)
        gtk_widget_set_size_request(widget, -1, points)
        gtk_center_box_set_center_widget(opaque, image)
        // Each is taken out while the other is in.
        for part in [image, spinner] { g_object_ref_sink(part) }
    }

    /// Shows the picture of that name.
    public func show(_ name: String) {
        gtk_image_set_from_icon_name(OpaquePointer(image), name)
        gtk_center_box_set_center_widget(opaque, image)
    }

    /// Shows that something goes on.
    public func spin() {
        gtk_center_box_set_center_widget(opaque, spinner)
        gtk_spinner_start(OpaquePointer(spinner))
    }
}
