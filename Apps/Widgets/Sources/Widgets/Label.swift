// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Text, never markup: what a caller wrote is shown as it wrote it.
public final class Label: Widget {
    /// Makes a label that breaks its text into lines.
    ///
    /// - Parameters:
    ///   - lines: how many there are at most, the last of which then ends with an ellipsis. Such a label takes the width
    ///     it is given, whatever is written in it. nil for as many as it takes.
    ///   - wraps: whether a label without a number of lines breaks them.
    ///   - cutsMiddle: whether one line that is too long loses its middle and not its end.
    ///   - announces: whether a screen reader says what it shows as soon as that changes.
    ///   - isCentred: whether its lines are in the middle.
    public init(
        _ text: String = "", lines: Int? = nil, wraps: Bool = true, cutsMiddle: Bool = false, styles: [String] = [],
        announces: Bool = false, isCentred: Bool = false
    ) {
        // GTK maps this role to AT-SPI's alert, which screen readers read out when it comes up.
        let made = announces ? Widget.make(gtk_label_get_type(), role: GTK_ACCESSIBLE_ROLE_ALERT) : nil
        super.init(made ?? gtk_label_new(nil))
        gtk_label_set_use_markup(opaque, 0)
        gtk_label_set_wrap(opaque, wraps ? 1 : 0)
        gtk_label_set_wrap_mode(opaque, PANGO_WRAP_WORD_CHAR)
        if let lines {
            gtk_label_set_natural_wrap_mode(opaque, GTK_NATURAL_WRAP_NONE)
            gtk_label_set_lines(opaque, Int32(clamping: lines))
            gtk_label_set_ellipsize(opaque, PANGO_ELLIPSIZE_END)
            gtk_label_set_max_width_chars(opaque, 1)
        }
        if cutsMiddle {
            // Pango cuts the middle of one line only.
            gtk_label_set_wrap(opaque, 0)
            gtk_label_set_ellipsize(opaque, PANGO_ELLIPSIZE_MIDDLE)
        }
        gtk_label_set_xalign(opaque, isCentred ? 0.5 : 0)
        gtk_label_set_justify(opaque, isCentred ? GTK_JUSTIFY_CENTER : GTK_JUSTIFY_LEFT)
        gtk_label_set_text(opaque, text)
        for style in styles { setStyle(style) }
    }

    /// The text.
    public var text: String {
        get { gtk_label_get_text(opaque).map { String(cString: $0) } ?? "" }
        set { if newValue != text { gtk_label_set_text(opaque, newValue) } }
    }

    /// Shows a text, or nothing, and takes no room for nothing.
    public func show(_ text: String?) {
        self.text = text ?? ""
        isVisible = text?.isEmpty == false
    }

    /// Shows a text and has it read out.
    public func announce(_ text: String) {
        // An empty one that is shown is read out by the name of its type.
        guard !text.isEmpty else { return show(nil) }
        guard text != self.text else { return }
        // Comes up anew, since that is what is announced.
        isVisible = false
        show(text)
        _ = latchkey_announce(widget, text)
    }
}

/// A picture of the theme.
public final class Picture: Widget {
    private var name = ""

    /// A picture of so many points, which says nothing that is not said in words beside it.
    public init(_ name: String = "", points: Int32) {
        super.init(
            Widget.make(gtk_image_get_type(), role: GTK_ACCESSIBLE_ROLE_PRESENTATION) ?? gtk_image_new())
        gtk_image_set_pixel_size(opaque, points)
        show(name)
    }

    /// Shows the picture of that name.
    public func show(_ name: String) {
        guard name != self.name else { return }
        self.name = name
        gtk_image_set_from_icon_name(opaque, name)
    }
}

/// A picture of the theme, or a sign that something goes on.
public final class ProgressPicture: Widget {
    private let picture: Picture
    private let spinner: UnsafeMutablePointer<GtkWidget>

    /// A picture of so many points.
    public init(points: Int32) {
        picture = Picture(points: points)
        spinner = gtk_spinner_new()
        super.init(gtk_center_box_new())
        gtk_widget_set_size_request(spinner, points, points)
        gtk_widget_set_size_request(widget, -1, points)
        gtk_center_box_set_center_widget(opaque, picture.widget)
        // Each is taken out while the other is in.
        for part in [picture.widget, spinner] { g_object_ref_sink(part) }
    }

    /// Shows the picture of that name.
    public func show(_ name: String) {
        picture.show(name)
        gtk_center_box_set_center_widget(opaque, picture.widget)
    }

    /// Shows that something goes on.
    public func spin() {
        gtk_center_box_set_center_widget(opaque, spinner)
        gtk_spinner_start(OpaquePointer(spinner))
    }
}

/// What is shown where there is nothing to show: a picture, a title and a sentence.
public final class EmptyPlace: Widget {
    private let picture = Picture(points: 64)
    private let title = Label(styles: ["title-2"], isCentred: true)
    private let words = Label(styles: ["dim-label"], isCentred: true)
    private let button: Button?

    /// An empty one, with a button for what there is none of.
    public init(button: Button? = nil) {
        self.button = button
        let place = Box(.down, [button].compactMap { $0 })
        place.centre()
        place.setMargin(12, sides: 0)
        let box = Box(.down, spacing: 6, [picture, title, words, place])
        picture.setStyle("dim-label")
        super.init(box.widget)
        box.setMargin(24)
        box.centre()
        box.expand(across: true, down: true)
    }

    /// Shows that, and the button if it is wanted.
    public func show(icon: String, title: String, words: String, offersButton: Bool = false) {
        button?.isVisible = offersButton
        picture.show(icon)
        self.title.text = title
        self.words.text = words
    }
}
