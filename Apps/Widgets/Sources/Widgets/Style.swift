// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// CSS rules in addition to those of the theme, whose colours they use.
@MainActor enum Style {
    private static var used: Set<String> = []

    /// Adds these rules for all windows.
    static func use(_ rules: String) {
        guard !used.contains(rules), let display = gdk_display_get_default(), let provider = gtk_css_provider_new()
        else { return }
        used.insert(rules)
        gtk_css_provider_load_from_data(provider, rules, -1)
        gtk_style_context_add_provider_for_display(
            display, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(UnsafeMutableRawPointer(provider))
    }
}
