// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// The path of a process's control group (version 2), in which systemd records its service or its login session.
///
/// Root alone moves a process into a group that it did not delegate. Only the first components are read: the rest can
/// be below a delegated group, where the user chooses the names.
package struct ControlGroup: Sendable {
    private let components: [Substring]

    /// Parses a path such as `/user.slice/user-1000.slice/session-2.scope`; nil for the path of a process in a foreign
    /// namespace of control groups.
    package init?(_ path: String) {
        let components = path.parts(at: "/")
        guard path.begins(with: "/"), !components.contains("..") else { return nil }
        self.components = components
    }

    /// The service of the system that the process belongs to, for example `postgresql.service`.
    package var systemUnit: String? {
        guard components.first == "system.slice" else { return nil }
        // Instances of a template are in a slice of their own, as in `/system.slice/system-getty.slice/getty@1.service`.
        let unit = components.drop { $0.hasSuffix(".slice") }.first
        guard let unit, unit.hasSuffix(".service"), unit != ".service", unit.utf8.count <= 240,
            unit.utf8.allSatisfy({ Self.isOfName($0) || ":_.\\@-".utf8.contains($0) })
        else { return nil }
        return String(unit)
    }

    /// The login session of `user`: its number, `user` for a service of the user's manager; empty if there is none, or
    /// if it is of another user.
    package func session(of user: UInt32) -> String {
        guard components.count > 2, components[0] == "user.slice", components[1] == "user-\(user).slice" else {
            return ""
        }
        if components[2] == "user@\(user).service" { return "user" }
        guard components[2].hasPrefix("session-"), components[2].hasSuffix(".scope") else { return "" }
        let number = components[2].dropFirst("session-".count).dropLast(".scope".count)
        return number.utf8.count <= 32 && number.utf8.allSatisfy(Self.isOfName) ? String(number) : ""
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
