// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// The base class of the two kinds of window.
@MainActor public class Window {
    let window: UnsafeMutablePointer<GtkWidget>
    private var afterPaint: [@MainActor () -> Void] = []
    /// The number of the frame that was being drawn when `afterNextFrame` was called: it may not show the latest
    /// changes.
    private var passed: gint64 = 0

    /// Wraps an AdwWindow.
    init(
        _ window: UnsafeMutablePointer<GtkWidget>, title: String, content: UnsafeMutablePointer<GtkWidget>,
        close: @escaping @MainActor () -> Void
    ) {
        self.window = window
        gtk_window_set_title(pointer, title)
        adw_window_set_content(UnsafeMutableRawPointer(window).assumingMemoryBound(to: AdwWindow.self), content)
        closeByRequest(close)
        connect(UnsafeMutableRawPointer(window), "map") { [weak self] in self?.followFrames() }
    }

    var pointer: UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
    }

    /// Shows the window in front of others.
    public func present() { gtk_window_present(pointer) }

    /// Hides the window.
    public func hide() { gtk_widget_set_visible(window, 0) }

    // MARK: - Frames

    /// Calls `action` once the next frame has been drawn.
    public func afterNextFrame(_ action: @escaping @MainActor () -> Void) {
        afterPaint.append(action)
        if let clock = gtk_widget_get_frame_clock(window) { askForFrame(clock) }
    }

    private func askForFrame(_ clock: OpaquePointer) {
        passed = gdk_frame_clock_get_frame_counter(clock)
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
    }

    private func followFrames() {
        guard let clock = gtk_widget_get_frame_clock(window) else { return }
        if !afterPaint.isEmpty { askForFrame(clock) }
        connect(UnsafeMutableRawPointer(clock), "after-paint") { [weak self] in
            guard let self, gtk_widget_get_mapped(window) != 0, gdk_frame_clock_get_frame_counter(clock) != passed
            else { return }
            let actions = afterPaint
            afterPaint = []
            for action in actions { action() }
        }
    }

    private func closeByRequest(_ close: @escaping @MainActor () -> Void) {
        let handler: @convention(c) (gpointer?, gpointer?) -> gboolean = { _, data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 1
        }
        attach(UnsafeMutableRawPointer(window), "close-request", unsafeBitCast(handler, to: GCallback.self), close)
    }
}
