// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// The loop in which windows live, on the main thread. It runs Dispatch's main queue too, and with it the main actor:
/// the queue's descriptor is one more thing that GLib waits for, so that nothing looks twice a second for work.
@MainActor public enum MainLoop {
    /// Opens the display under the name that compositors and screen readers show; false when there is none.
    public static func start(identifier: String, name: String) -> Bool {
        g_set_prgname(identifier)
        g_set_application_name(name)
        guard gtk_init_check() != 0 else { return false }
        adw_init()
        runMainQueue()
        return true
    }

    /// Runs until the process ends.
    public static func run() -> Never {
        while true { g_main_context_iteration(nil, 1) }
    }

    /// Runs `action` once after so many milliseconds.
    public static func after(milliseconds: UInt32, _ action: @escaping @MainActor () -> Void) -> UInt32 {
        g_timeout_add_full(G_PRIORITY_DEFAULT, milliseconds, Action.runOnce, Action(action).kept, Action.dropData)
    }

    /// Takes back what `after` gave, before it ran.
    public static func cancel(_ timer: UInt32) { g_source_remove(timer) }

    /// Runs `action` when the process is told to end (SIGTERM, SIGINT, SIGHUP).
    public static func whenToldToEnd(_ action: @escaping @MainActor () -> Void) {
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            g_unix_signal_add_full(
                G_PRIORITY_DEFAULT, signal, Action.runAgain, Action(action).kept, Action.dropData)
        }
    }

    /// Keeps what is in memory from a core on the disk.
    public static func leaveNoCore() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(4), &none)
    }

    /// Keeps it from the user's other programs too. Not for a program that asks for keys: the daemon reads in /proc who
    /// that is, and could not any more.
    public static func hideMemory() {
        leaveNoCore()
        _ = latchkey_hide_memory()
    }

    /// Time since some moment, in milliseconds; the same for every program of this machine (CLOCK_MONOTONIC).
    public static var milliseconds: Double { Double(g_get_monotonic_time()) / 1000 }

    private static func runMainQueue() {
        let drain: @convention(c) (gint, GIOCondition, gpointer?) -> gboolean = { descriptor, _, _ in
            // The count says only that there is work; the queue says how much.
            var count: UInt64 = 0
            read(descriptor, &count, MemoryLayout<UInt64>.size)
            _dispatch_main_queue_callback_4CF(nil)
            return 1
        }
        // Before redrawing, which has a lower priority.
        g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, _dispatch_get_main_queue_handle_4CF(), G_IO_IN, drain, nil, nil)
    }
}
