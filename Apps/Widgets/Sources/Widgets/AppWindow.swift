// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A key with Control, as shortcuts are written.
public struct Shortcut: Sendable {
    /// The key as GTK writes it: "<Control>n".
    public let accelerator: String
    /// What it does, in words.
    public let words: String
    let action: @MainActor @Sendable () -> Void

    /// Takes the parts.
    public init(_ accelerator: String, _ words: String, _ action: @escaping @MainActor @Sendable () -> Void) {
        self.accelerator = accelerator
        self.words = words
        self.action = action
    }
}

/// The window of an app, with a title bar of its own. It lives as long as the process.
public final class AppWindow: Window {
    private let title: String
    private var shortcuts: [Shortcut] = []

    /// Makes a window around `content`, not shown yet.
    ///
    /// - Parameter close: the window was asked to close; it stays.
    public init(title: String, width: Int32, height: Int32, content: Widget, close: @escaping @MainActor () -> Void) {
        self.title = title
        super.init(adw_window_new(), title: title, content: content.widget, close: close)
        gtk_window_set_default_size(pointer, width, height)
    }

    /// Takes the keys away from everything in it.
    public func dropFocus() { gtk_window_set_focus(pointer, nil) }

    /// Runs `action` whenever the window comes to the front.
    public func whenActive(_ action: @escaping @MainActor () -> Void) {
        observe(UnsafeMutableRawPointer(window), "is-active") { [weak self] in
            guard let self, gtk_window_is_active(pointer) != 0 else { return }
            action()
        }
    }

    // MARK: - Input

    /// Runs `action` at whatever a person does in the window: keys, pointer, touch.
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

    /// Has those keys do what they say, wherever in the window the keys are.
    public func add(_ shortcuts: [Shortcut]) {
        self.shortcuts += shortcuts
        guard let controller = gtk_shortcut_controller_new() else { return }
        // Before the text, which has uses of its own for some of them.
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

    // MARK: - The window of shortcuts

    /// Shows every shortcut in a window of its own.
    public func showShortcuts() {
        let rows = shortcuts.map { shortcut in
            """
            <child><object class="GtkShortcutsShortcut">
            <property name="accelerator">\(Self.escaped(shortcut.accelerator))</property>
            <property name="title">\(Self.escaped(shortcut.words))</property>
            </object></child>
            """
        }
        // Only a description in this form can make one, before GTK 4.14.
        let description = """
            <interface><object class="GtkShortcutsWindow" id="window"><property name="modal">1</property>
            <child><object class="GtkShortcutsSection"><property name="section-name">all</property>
            <property name="max-height">12</property>
            <child><object class="GtkShortcutsGroup"><property name="title">\(Self.escaped(title))</property>
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

    private static func escaped(_ text: String) -> String {
        guard let escaped = g_markup_escape_text(text, -1) else { return "" }
        defer { g_free(escaped) }
        return String(cString: escaped)
    }
}
