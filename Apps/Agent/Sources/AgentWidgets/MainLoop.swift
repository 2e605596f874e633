// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// The loop in which windows live, on the main thread.
public enum MainLoop {
    /// Opens the display under the name that compositors and screen readers show; false when there is none.
    @MainActor public static func start(identifier: String, name: String) -> Bool {
        g_set_prgname(identifier)
        g_set_application_name(name)
        guard gtk_init_check() != 0 else { return false }
        adw_init()
        return true
    }

    /// Runs until the process ends.
    @MainActor public static func run() -> Never {
        while true { g_main_context_iteration(nil, 1) }
    }

    /// Runs `action` in the loop soon; from any thread.
    public static func post(_ action: @escaping @MainActor () -> Void) {
        let run: @convention(c) (gpointer?) -> gboolean = { data in
            let action = Action.of(data)
            MainActor.assumeIsolated { action?.run() }
            return 0
        }
        let drop: @convention(c) (gpointer?) -> Void = { Action.drop($0, nil) }
        // Before redrawing, which has a lower priority.
        g_idle_add_full(G_PRIORITY_DEFAULT, run, Action(action).kept, drop)
    }

    /// Keeps other programs of the user from reading this one's memory, and its core from the disk.
    public static func hideMemory() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(4), &none)
        _ = latchkey_hide_memory()
    }
}
