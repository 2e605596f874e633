// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A keyboard shortcut.
public struct Shortcut: Sendable {
    /// The key in GTK's notation, for instance "<Control>n".
    public let accelerator: String
    /// A description of its action.
    public let words: String
    let action: @MainActor @Sendable () -> Void

    /// Creates a shortcut.
    public init(_ accelerator: String, _ words: String, _ action: @escaping @MainActor @Sendable () -> Void) {
        self.accelerator = accelerator
        self.words = words
        self.action = action
    }
}

/// The main window of an app, with a title bar. It exists until the process ends.
public final class AppWindow: Window {
    private let title: String
    private var shortcuts: [Shortcut] = []

    /// Creates a window that is not shown yet.
    ///
    /// - Parameter close: called when the user asks to close the window, which stays open.
    public init(title: String, width: Int32, height: Int32, content: Widget, close: @escaping @MainActor () -> Void) {
        self.title = title
        super.init(adw_window_new(), title: title, content: content.widget, close: close)
        gtk_window_set_default_size(pointer, width, height)
    }

    /// Removes the focus from all widgets.
    public func dropFocus() { gtk_window_set_focus(pointer, nil) }

    /// Whether the window is the one that gets what is typed.
    public var isActive: Bool { gtk_window_is_active(pointer) != 0 }

    /// Calls `action` whenever the window becomes active.
    public func whenActive(_ action: @escaping @MainActor () -> Void) {
        observe(UnsafeMutableRawPointer(window), "is-active") { [weak self] in
            guard let self, isActive else { return }
            action()
        }
    }

    // MARK: - Input

    /// Calls `action` for each input event in the window: keys, pointer, touch.
    public func whenUsed(_ action: @escaping @MainActor () -> Void) {
        guard let controller = gtk_event_controller_legacy_new() else { return }
        let handler: @convention(c) (gpointer?, gpointer?, gpointer?) -> gboolean = { _, _, data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 0
        }
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        attach(UnsafeMutableRawPointer(controller), "event", unsafeBitCast(handler, to: GCallback.self), action)
        gtk_widget_add_controller(window, controller)
    }

    /// Adds shortcuts that work wherever the focus is in the window.
    public func add(_ shortcuts: [Shortcut]) {
        self.shortcuts += shortcuts
        guard let controller = gtk_shortcut_controller_new() else { return }
        // The capture phase precedes the handling of the key by a text widget.
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        gtk_shortcut_controller_set_scope(controller, GTK_SHORTCUT_SCOPE_GLOBAL)
        let run: @convention(c) (UnsafeMutablePointer<GtkWidget>?, OpaquePointer?, gpointer?) -> gboolean = {
            _, _, data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 1
        }
        for shortcut in shortcuts {
            gtk_shortcut_controller_add_shortcut(
                controller,
                gtk_shortcut_new(
                    gtk_shortcut_trigger_parse_string(shortcut.accelerator),
                    gtk_callback_action_new(run, Action(shortcut.action).kept, Action.dropData)))
        }
        gtk_widget_add_controller(window, controller)
    }

    // MARK: - List of shortcuts

    /// Shows a window that lists all shortcuts.
    public func showShortcuts() {
        let rows = shortcuts.map { shortcut in
            """
            <child><object class="GtkShortcutsShortcut">
            <property name="accelerator">\(Markup.escaped(shortcut.accelerator))</property>
            <property name="title">\(Markup.escaped(shortcut.words))</property>
            </object></child>
            """
        }
        // Before GTK 4.14, only a builder description can create this window.
        let description = """
            <interface><object class="GtkShortcutsWindow" id="window"><property name="modal">1</property>
            <child><object class="GtkShortcutsSection"><property name="section-name">all</property>
            <property name="max-height">12</property>
            <child><object class="GtkShortcutsGroup"><property name="title">\(Markup.escaped(title))</property>
            \(rows.joined())</object></child></object></child></object></interface>
            """
        guard let builder = gtk_builder_new_from_string(description, -1) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(builder)) }
        guard let object = gtk_builder_get_object(builder, "window") else { return }
        let shown = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_transient_for(shown, pointer)
        gtk_window_set_title(shown, "Keyboard Shortcuts")
        gtk_window_present(shown)
    }
}
