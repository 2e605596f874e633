// SPDX-License-Identifier: Apache-2.0

/// An interface of the bus: what its methods take and return, by D-Bus signatures.
///
/// The tables below are the only description of the interfaces: calls are compared with them, properties are read and
/// written by them, and the introspection is made from them.
struct BusInterface: Sendable {
    struct Argument: Sendable {
        let name: String
        let type: String
    }

    struct Method: Sendable {
        let name: String
        let takes: [Argument]
        let gives: [Argument]

        var signature: String { takes.map(\.type).joined() }
        var reply: String { gives.map(\.type).joined() }

        /// - Parameters: arguments as `name:type`, separated by spaces.
        init(_ name: String, _ takes: String = "", _ gives: String = "") {
            (self.name, self.takes, self.gives) = (name, Self.arguments(takes), Self.arguments(gives))
        }

        static func arguments(_ text: String) -> [Argument] {
            text.split(separator: " ").map { part in
                let fields = part.split(separator: ":")
                return Argument(name: String(fields[0]), type: String(fields[1]))
            }
        }
    }

    struct Property: Sendable {
        let name: String
        let type: String
        let isWritable: Bool

        init(_ name: String, _ type: String, isWritable: Bool = false) {
            (self.name, self.type, self.isWritable) = (name, type, isWritable)
        }
    }

    let name: String
    var methods: [Method] = []
    var properties: [Property] = []
    /// Signals, with what they give.
    var signals: [Method] = []
}

extension BusInterface {
    static let service = BusInterface(
        name: "org.freedesktop.Secret.Service",
        methods: [
            Method("OpenSession", "algorithm:s input:v", "output:v result:o"),
            Method("CreateCollection", "properties:a{sv} alias:s", "collection:o prompt:o"),
            Method("SearchItems", "attributes:a{ss}", "unlocked:ao locked:ao"),
            Method("Unlock", "objects:ao", "unlocked:ao prompt:o"),
            Method("Lock", "objects:ao", "locked:ao prompt:o"),
            Method("GetSecrets", "items:ao session:o", "secrets:a{o(oayays)}"),
            Method("ReadAlias", "name:s", "collection:o"),
            Method("SetAlias", "name:s collection:o"),
        ],
        properties: [Property("Collections", "ao")],
        signals: [
            Method("CollectionCreated", "", "collection:o"), Method("CollectionDeleted", "", "collection:o"),
            Method("CollectionChanged", "", "collection:o"),
        ])

    static let collection = BusInterface(
        name: "org.freedesktop.Secret.Collection",
        methods: [
            Method("Delete", "", "prompt:o"),
            Method("SearchItems", "attributes:a{ss}", "results:ao"),
            Method("CreateItem", "properties:a{sv} secret:(oayays) replace:b", "item:o prompt:o"),
        ],
        properties: [
            Property("Items", "ao"), Property("Label", "s", isWritable: true), Property("Locked", "b"),
            Property("Created", "t"), Property("Modified", "t"),
        ],
        signals: [
            Method("ItemCreated", "", "item:o"), Method("ItemDeleted", "", "item:o"),
            Method("ItemChanged", "", "item:o"),
        ])

    static let item = BusInterface(
        name: "org.freedesktop.Secret.Item",
        methods: [
            Method("Delete", "", "prompt:o"),
            Method("GetSecret", "session:o", "secret:(oayays)"),
            Method("SetSecret", "secret:(oayays)"),
        ],
        properties: [
            Property("Locked", "b"), Property("Attributes", "a{ss}", isWritable: true),
            Property("Label", "s", isWritable: true), Property("Type", "s"), Property("Created", "t"),
            Property("Modified", "t"),
        ])

    static let session = BusInterface(name: "org.freedesktop.Secret.Session", methods: [Method("Close")])

    static let prompt = BusInterface(
        name: "org.freedesktop.Secret.Prompt",
        methods: [Method("Prompt", "window_id:s"), Method("Dismiss")],
        signals: [Method("Completed", "", "dismissed:b result:v")])

    static let propertyAccess = BusInterface(
        name: "org.freedesktop.DBus.Properties",
        methods: [
            Method("Get", "interface_name:s property_name:s", "value:v"),
            Method("GetAll", "interface_name:s", "properties:a{sv}"),
            Method("Set", "interface_name:s property_name:s value:v"),
        ],
        signals: [
            Method(
                "PropertiesChanged", "",
                "interface_name:s changed_properties:a{sv} invalidated_properties:as")
        ])

    static let introspection = BusInterface(
        name: "org.freedesktop.DBus.Introspectable", methods: [Method("Introspect", "", "xml_data:s")])

    /// sd-bus answers its calls for every object.
    static let peer = BusInterface(
        name: "org.freedesktop.DBus.Peer", methods: [Method("Ping"), Method("GetMachineId", "", "machine_uuid:s")])

    /// Those that every object has.
    static let common = [propertyAccess, introspection, peer]
}

extension BusInterface {
    /// The introspection data of an object that has these interfaces (D-Bus specification, "Introspection Data Format").
    static func xml(_ interfaces: [BusInterface]) -> String {
        """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>
        \(interfaces.map(\.xml).joined())</node>

        """
    }

    private var xml: String {
        func argument(_ argument: Argument, _ direction: String) -> String {
            "   <arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(direction)/>\n"
        }
        let methods = methods.map { method in
            "  <method name=\"\(method.name)\">\n"
                + method.takes.map { argument($0, " direction=\"in\"") }.joined()
                + method.gives.map { argument($0, " direction=\"out\"") }.joined() + "  </method>\n"
        }
        let properties = properties.map { property in
            "  <property name=\"\(property.name)\" type=\"\(property.type)\" "
                + "access=\"\(property.isWritable ? "readwrite" : "read")\"/>\n"
        }
        let signals = signals.map { signal in
            "  <signal name=\"\(signal.name)\">\n" + signal.gives.map { argument($0, "") }.joined() + "  </signal>\n"
        }
        return " <interface name=\"\(name)\">\n" + (methods + properties + signals).joined() + " </interface>\n"
    }
}
