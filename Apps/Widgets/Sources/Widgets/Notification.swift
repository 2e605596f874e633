// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A message that the desktop shows beside its windows (freedesktop.org, "Desktop Notifications Specification").
@MainActor public final class Notification {
    private nonisolated static let name = "org.freedesktop.Notifications"
    private nonisolated static let place = "/org/freedesktop/Notifications"
    /// The identifier of the only button.
    private nonisolated static let button = "do"
    private static let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil)
    /// The messages with a button, by their numbers.
    private static var shown: [guint32: Notification] = [:]
    private static var isWatching = false

    private let action: @MainActor () -> Void
    /// The number that the desktop gave; nil until it has answered.
    private var number: guint32?
    private var isClosed = false

    private init(_ action: @escaping @MainActor () -> Void) { self.action = action }

    /// Shows a message. Does nothing on a desktop that shows none.
    ///
    /// - Parameters:
    ///   - title: plain text.
    ///   - body: a text of this program: desktops may read it as markup.
    ///   - icon: the name of an icon.
    public static func show(_ title: String, _ body: String, icon: String) {
        call("Notify", latchkey_notification(title, body, icon, button, nil))
    }

    /// Shows a message with a button.
    ///
    /// - Parameters:
    ///   - title: plain text.
    ///   - body: a text of this program: desktops may read it as markup.
    ///   - icon: the name of an icon.
    ///   - button: the title of the button. Desktops without buttons show none.
    ///   - action: called when the user presses the button, which ends the message.
    /// - Returns: the message, which can be taken away.
    public static func show(
        _ title: String, _ body: String, icon: String, button: String, _ action: @escaping @MainActor () -> Void
    ) -> Notification {
        watch()
        let notification = Notification(action)
        let answered: GAsyncReadyCallback = { source, result, data in
            // Nil if no desktop shows messages.
            let reply = g_dbus_connection_call_finish(source.map { OpaquePointer($0) }, result, nil)
            let number = reply.map(Notification.number)
            if let reply { g_variant_unref(reply) }
            guard let data else { return }
            let notification = Unmanaged<Notification>.fromOpaque(data).takeRetainedValue()
            MainActor.assumeIsolated { notification.begin(number) }
        }
        call(
            "Notify", latchkey_notification(title, body, icon, Self.button, button), answered,
            Unmanaged.passRetained(notification).toOpaque())
        return notification
    }

    /// Takes the message away.
    public func close() {
        isClosed = true
        guard let number, Self.shown.removeValue(forKey: number) != nil else { return }
        var arguments: [OpaquePointer?] = [g_variant_new_uint32(number)]
        Self.call("CloseNotification", g_variant_new_tuple(&arguments, 1))
    }

    private func begin(_ number: guint32?) {
        guard let number else { return }
        self.number = number
        Self.shown[number] = self
        if isClosed { close() }
    }

    /// The number that is the first of the values in a message of the desktop.
    private nonisolated static func number(_ values: OpaquePointer) -> guint32 {
        guard let first = g_variant_get_child_value(values, 0) else { return 0 }
        defer { g_variant_unref(first) }
        return g_variant_get_uint32(first)
    }

    private static func call(
        _ method: String, _ arguments: OpaquePointer?, _ answered: GAsyncReadyCallback? = nil, _ data: gpointer? = nil
    ) {
        // Without a bus the call fails, and reports that.
        g_dbus_connection_call(
            bus, name, place, name, method, arguments, nil, G_DBUS_CALL_FLAGS_NONE, 5000, nil, answered, data)
    }

    /// Learns of pressed buttons, and of messages that ended.
    private static func watch() {
        guard !isWatching, let bus else { return }
        isWatching = true
        let pressed: GDBusSignalCallback = { _, _, _, _, _, values, _ in
            guard let values else { return }
            let number = Notification.number(values)
            MainActor.assumeIsolated { Notification.shown[number]?.action() }
        }
        let closed: GDBusSignalCallback = { _, _, _, _, _, values, _ in
            guard let values else { return }
            let number = Notification.number(values)
            MainActor.assumeIsolated { _ = Notification.shown.removeValue(forKey: number) }
        }
        for (signal, callback) in [("ActionInvoked", pressed), ("NotificationClosed", closed)] {
            _ = g_dbus_connection_signal_subscribe(
                bus, name, name, signal, place, nil, G_DBUS_SIGNAL_FLAGS_NONE, callback, nil, nil)
        }
    }
}
