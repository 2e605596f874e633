// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A closure that is passed to C as user data.
final class Action: Sendable {
    let run: @MainActor () -> Void

    init(_ run: @escaping @MainActor () -> Void) { self.run = run }

    var kept: gpointer { Unmanaged.passRetained(self).toOpaque() }

    /// The action in the user data of a callback.
    static func of(_ data: gpointer?) -> Action? {
        data.map { Unmanaged<Action>.fromOpaque($0).takeUnretainedValue() }
    }

    static let drop: @convention(c) (gpointer?, UnsafeMutablePointer<GClosure>?) -> Void = { data, _ in
        dropData(data)
    }

    static let dropData: @convention(c) (gpointer?) -> Void = { data in
        if let data { Unmanaged<Action>.fromOpaque(data).release() }
    }

    /// Callbacks of GLib sources: `runOnce` removes the source, `runAgain` does not.
    static let runOnce: @convention(c) (gpointer?) -> gboolean = { data in
        let action = Action.of(data)
        MainActor.assumeIsolated { action?.run() }
        return 0
    }
    static let runAgain: @convention(c) (gpointer?) -> gboolean = { data in
        let action = Action.of(data)
        MainActor.assumeIsolated { action?.run() }
        return 1
    }
}

// GTK invokes callbacks on the thread that runs the main loop, which is the main thread.

/// Calls `action` for each signal of this name, which must have no arguments and no return value.
@MainActor
func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping @MainActor () -> Void) {
    let handler: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
        let action = Action.of(data)
        MainActor.assumeIsolated { action?.run() }
    }
    attach(object, signal, unsafeBitCast(handler, to: GCallback.self), action)
}

/// Calls `action` when a property has changed.
@MainActor
func observe(_ object: UnsafeMutableRawPointer, _ property: String, _ action: @escaping @MainActor () -> Void) {
    let handler: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
        let action = Action.of(data)
        MainActor.assumeIsolated { action?.run() }
    }
    attach(object, "notify::\(property)", unsafeBitCast(handler, to: GCallback.self), action)
}

/// Connects `handler` to a signal; its last argument is the action as user data.
@MainActor
func attach(
    _ object: UnsafeMutableRawPointer, _ signal: String, _ handler: GCallback, _ action: @escaping @MainActor () -> Void
) {
    g_signal_connect_data(object, signal, handler, Action(action).kept, Action.drop, GConnectFlags(0))
}
