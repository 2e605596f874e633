// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Rules beside those of the theme, whose colours they take.
@MainActor enum Style {
    private static var used: Set<String> = []

    /// Uses these rules from now on, for every window.
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
