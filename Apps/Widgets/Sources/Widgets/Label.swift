// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Plain text: markup in a caller's text is not interpreted.
public final class Label: Widget {
    /// Creates a label that wraps its text.
    ///
    /// - Parameters:
    ///   - lines: maximum number of lines, the last of which ends with an ellipsis if text is omitted. The text then
    ///     does not affect the label's width. nil for no limit.
    ///   - wraps: whether to wrap text; without effect if `cutsMiddle`.
    ///   - cutsMiddle: whether the text is one line that is shortened in the middle.
    ///   - announces: whether a screen reader announces each change of the text.
    ///   - isCentred: whether lines are centred.
    public init(
        _ text: String = "", lines: Int? = nil, wraps: Bool = true, cutsMiddle: Bool = false, styles: [String] = [],
        announces: Bool = false, isCentred: Bool = false
    ) {
        // GTK maps this role to AT-SPI's alert, which screen readers announce when it appears.
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
            // Pango shortens only a single line in the middle.
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

    /// Sets the width in characters above which the text is wrapped, also within a word.
    public func setWidest(characters: Int32) { gtk_label_set_max_width_chars(opaque, characters) }

    /// The height of one line in points.
    public var lineHeight: Int32 {
        guard let layout = gtk_widget_create_pango_layout(widget, "X") else { return 0 }
        defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
        var height: Int32 = 0
        pango_layout_get_pixel_size(layout, nil, &height)
        return height
    }

    /// Shows a text; hides the label when it is nil or empty.
    public func show(_ text: String?) {
        self.text = text ?? ""
        isVisible = text?.isEmpty == false
    }

    /// Shows a text and has a screen reader announce it.
    public func announce(_ text: String) {
        // A visible label without text would be announced by the name of its type.
        guard !text.isEmpty else { return show(nil) }
        guard text != self.text else { return }
        // Hides and shows the label, because screen readers announce it when it appears.
        isVisible = false
        show(text)
        _ = latchkey_announce(widget, text)
    }
}

/// An icon of the theme.
public final class Picture: Widget {
    private var name = ""

    /// Creates a decorative icon of this size in points; assistive technology ignores it.
    public init(_ name: String = "", points: Int32) {
        super.init(
            Widget.make(gtk_image_get_type(), role: GTK_ACCESSIBLE_ROLE_PRESENTATION) ?? gtk_image_new())
        gtk_image_set_pixel_size(opaque, points)
        show(name)
    }

    /// Changes the icon.
    public func show(_ name: String) {
        guard name != self.name else { return }
        self.name = name
        gtk_image_set_from_icon_name(opaque, name)
    }
}

/// An icon of the theme, or a spinner.
public final class ProgressPicture: Widget {
    private let picture: Picture
    private let spinner: UnsafeMutablePointer<GtkWidget>

    /// Creates an icon of this size in points.
    public init(points: Int32) {
        picture = Picture(points: points)
        spinner = gtk_spinner_new()
        super.init(gtk_center_box_new())
        gtk_widget_set_size_request(spinner, points, points)
        gtk_widget_set_size_request(widget, -1, points)
        gtk_center_box_set_center_widget(opaque, picture.widget)
        // Referenced here, because each is removed from the box while the other one is shown.
        for part in [picture.widget, spinner] { g_object_ref_sink(part) }
    }

    /// Shows the icon with this name.
    public func show(_ name: String) {
        picture.show(name)
        gtk_center_box_set_center_widget(opaque, picture.widget)
    }

    /// Shows the spinner.
    public func spin() {
        gtk_center_box_set_center_widget(opaque, spinner)
        gtk_spinner_start(OpaquePointer(spinner))
    }
}

/// A placeholder for an empty list or text: an icon, a title and a sentence.
public final class EmptyPlace: Widget {
    private let picture = Picture(points: 64)
    private let title = Label(styles: ["title-2"], isCentred: true)
    private let words = Label(styles: ["dim-label"], isCentred: true)
    private let button: Button?

    /// Creates an empty placeholder with an optional button.
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

    /// Sets icon and texts, and shows the button if `offersButton`.
    public func show(icon: String, title: String, words: String, offersButton: Bool = false) {
        button?.isVisible = offersButton
        picture.show(icon)
        self.title.text = title
        self.words.text = words
    }
}
