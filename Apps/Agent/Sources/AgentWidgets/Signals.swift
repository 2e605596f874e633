// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A closure that a C library keeps.
final class Action: Sendable {
    let run: @MainActor () -> Void

    init(_ run: @escaping @MainActor () -> Void) { self.run = run }

    var kept: gpointer { Unmanaged.passRetained(self).toOpaque() }

    /// The action behind user data of a callback.
    static func of(_ data: gpointer?) -> Action? {
        data.map { Unmanaged<Action>.fromOpaque($0).takeUnretainedValue() }
    }

    static let drop: @convention(c) (gpointer?, UnsafeMutablePointer<GClosure>?) -> Void = { data, _ in
        if let data { Unmanaged<Action>.fromOpaque(data).release() }
    }
}

/// Runs `action` at each signal of that name that has no arguments and wants no answer.
@MainActor
func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping @MainActor () -> Void) {
    let handler: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
        // GTK calls back on the thread that runs the main loop, which is the main thread.
        let action = Action.of(data)
        MainActor.assumeIsolated { action?.run() }
    }
    g_signal_connect_data(
        object, signal, unsafeBitCast(handler, to: GCallback.self), Action(action).kept, Action.drop,
        GConnectFlags(0))
}
