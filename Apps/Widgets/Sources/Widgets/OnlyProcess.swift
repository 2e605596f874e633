// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// Sees to it that a program runs once in a session: a second process tells the first one, and ends.
///
/// The first process owns a name on the session's bus. Without a bus, every process is the first one. A process that executes
/// another file and has the name does not count: it could keep the program from being used at all.
@MainActor public enum OnlyProcess {
    private static var application: UnsafeMutablePointer<GApplication>?
    private static var opened: (@MainActor (String) -> Void)?
    /// The action of the first process that another one calls.
    private static let action = "open"

    /// Makes this process the only one, or tells the one that is. Called after `MainLoop.start`.
    ///
    /// - Parameters:
    ///   - identifier: the name on the bus, such as `org.example.App`.
    ///   - place: what the first process is told if this is not it; empty for nothing in particular.
    ///   - opened: called in the first process whenever another one was started, with the place of that one.
    /// - Returns: whether this process is the first one; the other one is told otherwise.
    public static func begin(
        identifier: String, place: String, opened: @escaping @MainActor (String) -> Void
    ) -> Bool {
        // Without a bus there must be no application: GTK would ask it for its place on the bus when a screen reader reads the
        // window, and crash. And before it is made, because an owner that does not answer would be waited for.
        guard let owner = owner(of: identifier), owner != .another else { return true }
        // An application of GTK passes on with which event it was started, so that its window may come to the front.
        guard let made = gtk_application_new(identifier, GApplicationFlags(rawValue: 0)) else { return true }
        let application = UnsafeMutableRawPointer(made).assumingMemoryBound(to: GApplication.self)
        guard let open = g_simple_action_new(action, latchkey_variant_type_string()) else { return true }
        let told: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { _, value, _ in
            guard let value, let text = g_variant_get_string(value, nil) else { return }
            guard let place = String(validatingCString: text) else { return }
            MainActor.assumeIsolated { OnlyProcess.opened?(place) }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(open), "activate", unsafeBitCast(told, to: GCallback.self), nil, nil,
            GConnectFlags(0))
        let group = OpaquePointer(application)
        g_action_map_add_action(group, open)
        (Self.application, Self.opened) = (application, opened)
        // If the bus cannot be used, the registration fails, and this process is the first one. Another owner can be there by
        // now.
        guard g_application_register(application, nil, nil) != 0, g_application_get_is_remote(application) != 0,
            Self.owner(of: identifier) == .thisProgram
        else { return true }
        g_action_group_activate_action(group, action, g_variant_new_string(place))
        // This process ends before its main loop would send it.
        if let bus = g_application_get_dbus_connection(application) { g_dbus_connection_flush_sync(bus, nil, nil) }
        return false
    }

    /// The owner of a name on the bus; `absent` also if the bus does not say.
    private enum Owner { case absent, thisProgram, another }

    /// Whether the process with the name executes the file that this process executes; nil if there is no bus.
    private static func owner(of name: String) -> Owner? {
        guard let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
        var arguments: [OpaquePointer?] = [g_variant_new_string(name)]
        guard
            let reply = g_dbus_connection_call_sync(
                bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "GetConnectionUnixProcessID", g_variant_new_tuple(&arguments, 1), nil, G_DBUS_CALL_FLAGS_NONE, 2000,
                nil,
                nil)
        else { return .absent }
        defer { g_variant_unref(reply) }
        guard g_variant_n_children(reply) == 1, let value = g_variant_get_child_value(reply, 0) else { return .another }
        defer { g_variant_unref(value) }
        guard g_variant_classify(value) == G_VARIANT_CLASS_UINT32 else { return .another }
        var (own, other) = (stat(), stat())
        // A process that cannot be examined is not known to be the same program.
        guard stat("/proc/self/exe", &own) == 0, stat("/proc/\(g_variant_get_uint32(value))/exe", &other) == 0 else {
            return .another
        }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino ? .thisProgram : .another
    }

    /// Gives up the name, so that the next process is the first one. Called when this one will not show its window any more.
    public static func end() {
        opened = nil
        guard let application, let bus = g_application_get_dbus_connection(application),
            let name = g_application_get_application_id(application)
        else { return }
        var arguments: [OpaquePointer?] = [g_variant_new_string(name)]
        g_dbus_connection_call(
            bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReleaseName",
            g_variant_new_tuple(&arguments, 1), nil, G_DBUS_CALL_FLAGS_NONE, -1, nil, nil, nil)
        // Sent also if the process ends at once.
        g_dbus_connection_flush_sync(bus, nil, nil)
    }
}
