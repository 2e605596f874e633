// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// The event loop of the main thread. It also runs Dispatch's main queue, and with it the main actor: GLib waits for
/// the queue's descriptor, so that no polling is necessary.
@MainActor public enum MainLoop {
    /// Opens the display. Compositors and screen readers show `name`. Returns false when there is no display.
    public static func start(identifier: String, name: String) -> Bool {
        g_set_prgname(identifier)
        g_set_application_name(name)
        guard gtk_init_check() != 0 else { return false }
        adw_init()
        runMainQueue()
        return true
    }

    /// Sets the direction in which widgets made from now on are laid out: that of their texts' language. GTK's own default
    /// is that of the locale, for which an app need not have texts.
    public static func setDirection(isRightToLeft: Bool) {
        gtk_widget_set_default_direction(isRightToLeft ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR)
    }

    /// Runs until the process ends.
    public static func run() -> Never {
        while true { g_main_context_iteration(nil, 1) }
    }

    /// Ends the process at once. exit(3) would first free what other threads still use, and crash them.
    public nonisolated static func end(_ status: CInt = 0) -> Never { _exit(status) }

    /// Calls `action` once after a time, and returns the timer.
    public static func after(milliseconds: UInt32, _ action: @escaping @MainActor () -> Void) -> UInt32 {
        g_timeout_add_full(G_PRIORITY_DEFAULT, milliseconds, Action.runOnce, Action(action).kept, Action.dropData)
    }

    /// Cancels a timer of `after` that has not fired.
    public static func cancel(_ timer: UInt32) { g_source_remove(timer) }

    /// Calls `action` when the process receives SIGTERM, SIGINT or SIGHUP.
    public static func whenToldToEnd(_ action: @escaping @MainActor () -> Void) {
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            g_unix_signal_add_full(
                G_PRIORITY_DEFAULT, signal, Action.runAgain, Action(action).kept, Action.dropData)
        }
    }

    /// Disables core dumps.
    public static func leaveNoCore() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(4), &none)
    }

    /// Disables core dumps and prevents the user's other programs from reading the process's memory. Must not be used
    /// by clients of the daemon, which could then no longer identify the program in /proc.
    public static func hideMemory() {
        leaveNoCore()
        _ = latchkey_hide_memory()
    }

    /// The monotonic clock in milliseconds (CLOCK_MONOTONIC), the same for all processes of the machine.
    public static var milliseconds: Double { Double(g_get_monotonic_time()) / 1000 }

    /// Width and height of the smallest monitor in points; nil if none is known.
    public static var monitorSize: (width: Int32, height: Int32)? {
        guard let display = gdk_display_get_default(), let monitors = gdk_display_get_monitors(display) else {
            return nil
        }
        var smallest: (width: Int32, height: Int32)?
        for number in 0..<g_list_model_get_n_items(monitors) {
            guard let monitor = g_list_model_get_item(monitors, number) else { continue }
            var place = GdkRectangle()
            gdk_monitor_get_geometry(OpaquePointer(monitor), &place)
            g_object_unref(monitor)
            guard place.width > 0, place.height > 0 else { continue }
            smallest = (min(smallest?.width ?? .max, place.width), min(smallest?.height ?? .max, place.height))
        }
        return smallest
    }

    private static func runMainQueue() {
        let drain: @convention(c) (gint, GIOCondition, gpointer?) -> gboolean = { descriptor, _, _ in
            // The count only signals that there is work; the callback drains the whole queue.
            var count: UInt64 = 0
            read(descriptor, &count, MemoryLayout<UInt64>.size)
            _dispatch_main_queue_callback_4CF(nil)
            return 1
        }
        // The queue is drained before widgets are redrawn, which has a lower priority.
        g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, _dispatch_get_main_queue_handle_4CF(), G_IO_IN, drain, nil, nil)
    }
}
