// SPDX-License-Identifier: Apache-2.0

import CAdwaita

// A window that other programs of the session may bring to the front, and nothing else: they can neither read nor answer it.

/// The name and the methods by which a window is brought to the front, on the session's bus.
private enum RaiseInterface {
    static let name = "org.latchkey.Raise"
    static let changed = "Changed"
    /// `Raise` gets a startup identifier or activation token, with which the desktop lets a window come to the front, or nothing.
    /// Both methods return the process for which the window is shown, 0 if none is.
    static let description = """
        <node><interface name="org.latchkey.Raise">
        <method name="Raise"><arg type="s" direction="in"/><arg type="i" direction="out"/></method>
        <method name="Shown"><arg type="i" direction="out"/></method>
        <signal name="Changed"><arg type="i"/></signal>
        </interface></node>
        """

    /// The path of the object, made of the bus name.
    static func path(of name: String) -> String { "/" + name.map { $0 == "." ? "/" : String($0) }.joined() }

    /// The number that is the first of the values in a message; 0 without one.
    static func number(_ values: OpaquePointer?) -> Int32 {
        guard let values, g_variant_n_children(values) > 0, let first = g_variant_get_child_value(values, 0) else {
            return 0
        }
        defer { g_variant_unref(first) }
        return g_variant_classify(first) == G_VARIANT_CLASS_INT32 ? g_variant_get_int32(first) : 0
    }
}

/// The side of the program that has the window.
@MainActor public final class RaisableWindow {
    /// The process for which the window is shown; 0 while none is.
    public var process: Int32 = 0 { didSet { if process != oldValue { tell() } } }
    private let path: String
    private let raise: @MainActor (_ startup: String) -> Void
    private let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil)
    private var lastRaise = -RaisableWindow.milliseconds

    /// Milliseconds between two raises. Another program that asks more often could keep the focus in the window.
    public static let milliseconds: Double = 2000
    /// The longest startup identifier.
    private static let longest = 512

    /// Requests a name on the session's bus. Without a bus, no other program can raise the window.
    ///
    /// - Parameters:
    ///   - name: the name, such as `org.example.App`.
    ///   - raise: brings the window to the front, with a startup identifier, which may be empty.
    public init(name: String, raise: @escaping @MainActor (_ startup: String) -> Void) {
        (path, self.raise) = (RaiseInterface.path(of: name), raise)
        guard let bus, let node = g_dbus_node_info_new_for_xml(RaiseInterface.description, nil) else { return }
        defer { g_dbus_node_info_unref(node) }
        var methods = GDBusInterfaceVTable()
        methods.method_call = { _, _, _, _, method, arguments, invocation, data in
            guard let method, let invocation, let data else { return }
            var startup = ""
            if let arguments, g_variant_n_children(arguments) > 0, let first = g_variant_get_child_value(arguments, 0) {
                startup = g_variant_get_string(first, nil).flatMap { String(validatingCString: $0) } ?? ""
                g_variant_unref(first)
            }
            let asksToRaise = String(validatingCString: method) == "Raise"
            let process = MainActor.assumeIsolated {
                let window = Unmanaged<RaisableWindow>.fromOpaque(data).takeUnretainedValue()
                if asksToRaise { window.raiseSeldom(startup) }
                return window.process
            }
            var values: [OpaquePointer?] = [g_variant_new_int32(process)]
            g_dbus_method_invocation_return_value(invocation, g_variant_new_tuple(&values, 1))
        }
        // The window of the program lives as long as the program.
        let kept = Unmanaged.passRetained(self).toOpaque()
        g_dbus_connection_register_object(
            bus, path, g_dbus_node_info_lookup_interface(node, RaiseInterface.name), &methods, kept, nil, nil)
        g_bus_own_name_on_connection(bus, name, G_BUS_NAME_OWNER_FLAGS_NONE, nil, nil, nil, nil)
    }

    private func raiseSeldom(_ startup: String) {
        let now = MainLoop.milliseconds
        guard process != 0, now - lastRaise >= Self.milliseconds else { return }
        lastRaise = now
        raise(startup.utf8.count <= Self.longest ? startup : "")
    }

    private func tell() {
        guard let bus else { return }
        var values: [OpaquePointer?] = [g_variant_new_int32(process)]
        g_dbus_connection_emit_signal(
            bus, nil, path, RaiseInterface.name, RaiseInterface.changed, g_variant_new_tuple(&values, 1), nil)
    }
}

/// The side of another program, while it waits for what the person does in that window.
@MainActor public final class RaisedWindow {
    private let name: String
    private let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil)
    private var subscription: guint = 0
    private let observer: Observer

    /// Survives the object until the last answer has arrived.
    @MainActor private final class Observer {
        var changed: (@MainActor (Int32) -> Void)?
    }

    /// Observes the window.
    ///
    /// - Parameters:
    ///   - name: the bus name of its program.
    ///   - changed: called with the process for which the window is shown, 0 if none is: soon, and after each change.
    public init(name: String, changed: @escaping @MainActor (_ process: Int32) -> Void) {
        self.name = name
        observer = Observer()
        observer.changed = changed
        guard let bus else { return }
        let told: GDBusSignalCallback = { _, _, _, _, _, values, data in
            guard let data else { return }
            let process = RaiseInterface.number(values)
            MainActor.assumeIsolated {
                Unmanaged<Observer>.fromOpaque(data).takeUnretainedValue().changed?(process)
            }
        }
        subscription = g_dbus_connection_signal_subscribe(
            bus, name, RaiseInterface.name, RaiseInterface.changed, RaiseInterface.path(of: name), nil,
            G_DBUS_SIGNAL_FLAGS_NONE, told, Unmanaged.passRetained(observer).toOpaque(),
            { data in
                if let data { Unmanaged<Observer>.fromOpaque(data).release() }
            })
        call("Shown", nil)
    }

    /// Brings the window to the front.
    public func raise() {
        // The desktop lets a window come to the front if the one that has the focus asks for it.
        var startup = ""
        if let display = gdk_display_get_default(), let context = gdk_display_get_app_launch_context(display) {
            let launch = UnsafeMutableRawPointer(context).assumingMemoryBound(to: GAppLaunchContext.self)
            let flags = GAppInfoCreateFlags(rawValue: 0)
            let app = g_app_info_create_from_commandline("latchkey-agent", "Latchkey", flags, nil)
            if let identifier = g_app_launch_context_get_startup_notify_id(launch, app, nil) {
                startup = String(validatingCString: identifier) ?? ""
                g_free(identifier)
            }
            if let app { g_object_unref(UnsafeMutableRawPointer(app)) }
            g_object_unref(UnsafeMutableRawPointer(context))
        }
        var values: [OpaquePointer?] = [g_variant_new_string(startup)]
        call("Raise", g_variant_new_tuple(&values, 1))
    }

    /// Stops observing.
    public func end() {
        observer.changed = nil
        if let bus, subscription != 0 { g_dbus_connection_signal_unsubscribe(bus, subscription) }
        subscription = 0
    }

    private func call(_ method: String, _ arguments: OpaquePointer?) {
        let answered: GAsyncReadyCallback = { source, result, data in
            // Nil if no program has the name.
            let reply = g_dbus_connection_call_finish(source.map { OpaquePointer($0) }, result, nil)
            let process = reply.map { RaiseInterface.number($0) }
            if let reply { g_variant_unref(reply) }
            guard let data else { return }
            let observer = Unmanaged<Observer>.fromOpaque(data).takeRetainedValue()
            MainActor.assumeIsolated { if let process { observer.changed?(process) } }
        }
        g_dbus_connection_call(
            bus, name, RaiseInterface.path(of: name), RaiseInterface.name, method, arguments, nil,
            G_DBUS_CALL_FLAGS_NO_AUTO_START, 5000, nil, answered, Unmanaged.passRetained(observer).toOpaque())
    }
}
