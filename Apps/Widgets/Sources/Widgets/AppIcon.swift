// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// The icon of an app, from the folders of the system only: a file of the user must not change how a program looks.
public final class AppIcon: Widget {
    private static let folders = ["/usr/share/icons", "/usr/local/share/icons", "/usr/share/pixmaps"]
    private static let theme: OpaquePointer? = {
        guard let theme = gtk_icon_theme_new() else { return nil }
        // GTK copies the paths.
        let copies = folders.map { g_strdup($0) }
        var paths = copies.map { UnsafePointer<CChar>($0) } + [nil]
        gtk_icon_theme_set_search_path(theme, &paths)
        for copy in copies { g_free(copy) }
        // Apps install their icons here; the theme of the session could be one of the user.
        gtk_icon_theme_set_theme_name(theme, "hicolor")
        return theme
    }()
    private let points: Int32
    private var name: String?

    /// Creates a hidden icon of this size in points; assistive technology ignores it.
    public init(points: Int32) {
        self.points = points
        super.init(Widget.make(gtk_image_get_type(), role: GTK_ACCESSIBLE_ROLE_PRESENTATION) ?? gtk_image_new())
        gtk_image_set_pixel_size(opaque, points)
        isVisible = false
    }

    /// Shows the icon of this name; hides the widget without one, or if the system has none of this name.
    public func show(_ name: String?) {
        guard name != self.name else { return }
        self.name = name
        guard let name, let theme = Self.theme, gtk_icon_theme_has_icon(theme, name) != 0,
            let icon = gtk_icon_theme_lookup_icon(
                theme, name, nil, points, max(1, gtk_widget_get_scale_factor(widget)), GTK_TEXT_DIR_NONE,
                GtkIconLookupFlags(0))
        else {
            isVisible = false
            return
        }
        gtk_image_set_from_paintable(opaque, icon)
        g_object_unref(UnsafeMutableRawPointer(icon))
        isVisible = true
    }
}
