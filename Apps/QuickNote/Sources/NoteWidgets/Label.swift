// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Text, never markup.
package final class Label: Widget {
    /// Makes a label that breaks its text into lines.
    ///
    /// - Parameters:
    ///   - announces: whether a screen reader says what it shows as soon as that changes.
    ///   - isCentred: whether its lines are in the middle.
    package init(_ text: String = "", styles: [String] = [], announces: Bool = false, isCentred: Bool = false) {
        // GTK maps this role to AT-SPI's alert, which screen readers read out when it comes up.
        let made = announces ? Widget.make(gtk_label_get_type(), role: GTK_ACCESSIBLE_ROLE_ALERT) : nil
        super.init(made ?? gtk_label_new(nil))
        gtk_label_set_use_markup(opaque, 0)
        gtk_label_set_wrap(opaque, 1)
        gtk_label_set_wrap_mode(opaque, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_xalign(opaque, isCentred ? 0.5 : 0)
        gtk_label_set_justify(opaque, isCentred ? GTK_JUSTIFY_CENTER : GTK_JUSTIFY_LEFT)
        gtk_label_set_text(opaque, text)
        for style in styles { setStyle(style) }
    }

    /// The text.
    package var text: String {
        get { gtk_label_get_text(opaque).map { String(cString: $0) } ?? "" }
        set { if newValue != text { gtk_label_set_text(opaque, newValue) } }
    }

    /// Shows a text, or nothing, and takes no room for nothing.
    package func show(_ text: String?) {
        self.text = text ?? ""
        isVisible = text?.isEmpty == false
    }
}

/// A picture of the theme.
package final class Picture: Widget {
    private var name = ""

    /// A picture of so many points, which says nothing that is not said in words beside it.
    package init(_ name: String = "", points: Int32) {
        super.init(
            Widget.make(gtk_image_get_type(), role: GTK_ACCESSIBLE_ROLE_PRESENTATION) ?? gtk_image_new())
        gtk_image_set_pixel_size(opaque, points)
        show(name)
    }

    /// Shows the picture of that name.
    package func show(_ name: String) {
        guard name != self.name else { return }
        self.name = name
        gtk_image_set_from_icon_name(opaque, name)
    }
}

/// What is shown where there is nothing to show: a picture, a title and a sentence.
package final class EmptyPlace: Widget {
    private let picture = Picture(points: 64)
    private let title = Label(styles: ["title-2"], isCentred: true)
    private let words = Label(styles: ["dim-label"], isCentred: true)

    /// An empty one.
    package init() {
        let box = Box(.down, spacing: 6, [picture, title, words])
        picture.setStyle("dim-label")
        super.init(box.widget)
        box.setMargin(24)
        box.centre()
        box.expand(across: true, down: true)
    }

    /// Shows that.
    package func show(icon: String, title: String, words: String) {
        picture.show(icon)
        self.title.text = title
        self.words.text = words
    }
}
