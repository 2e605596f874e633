// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
package import LatchkeyModel
import LatchkeySystem

/// The login session of this process, as logind describes it.
package struct LoginFacts: Equatable, Sendable {
    package var id: String
    /// Such as `wayland` or `tty`.
    package var type: String
    package var isRemote = false
    package var isActive = true
    package var isLocked = false

    /// The control group of this process (version 2).
    package static var ownGroup: String? {
        // Without control groups there is no session.
        guard let bytes = try? Descriptor.open("/proc/self/cgroup", O_RDONLY).readAll(limit: 64 << 10) else {
            return nil
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("0::") }.map { String($0.dropFirst(3)) }
    }
}

extension LoginFacts {
    /// Asks logind; nil if there is none, or if this process belongs to no session.
    ///
    /// - Parameter group: the control group of this process.
    package init?(_ places: MachinePlaces, user: UInt32 = geteuid(), group: String? = Self.ownGroup, seconds: Int64) {
        guard let own = group.flatMap({ ControlGroup($0) })?.session(of: user), !own.isEmpty else { return nil }
        var id = own
        if own == BiometrySessions.userManager {
            // Programs of a desktop run under the user's service manager, beside the session that it displays.
            let shown = ProgramOutput.lines(
                places.loginctl, ["show-user", "\(user)", "--property=Display", "--value"], seconds: seconds)
            guard let display = shown?.first, !display.isEmpty else { return nil }
            id = display
        }
        let properties = ["Type", "Remote", "Active", "LockedHint"].map { "--property=" + $0 }
        guard let lines = ProgramOutput.lines(places.loginctl, ["show-session", id] + properties, seconds: seconds)
        else { return nil }
        let values = Dictionary(
            lines.compactMap { line -> (String, String)? in
                guard let sign = line.firstIndex(of: "=") else { return nil }
                return (String(line[..<sign]), String(line[line.index(after: sign)...]))
            }, uniquingKeysWith: { first, _ in first })
        // What is missing gives less, as in latchkey-authd.
        self.init(
            id: id, type: values["Type"] ?? "unknown", isRemote: values["Remote"] != "no",
            isActive: values["Active"] == "yes", isLocked: values["LockedHint"] != "no")
    }
}

extension DoctorRow {
    /// Whether the fingerprint reader is used in this session.
    package static func loginSession(_ facts: LoginFacts?) -> DoctorRow {
        let name = "login session"
        guard let facts else {
            return DoctorRow(
                name, .absent, "logind knows no session of this program, so no fingerprint sensor is used for it")
        }
        let session = "session \(facts.id) (\(facts.type))"
        if facts.isRemote {
            return DoctorRow(name, .absent, "\(session), remote, so no fingerprint sensor is used in it")
        }
        guard facts.isActive else {
            return DoctorRow(
                name, .absent, "\(session), not active, so no fingerprint sensor is used in it",
                .init("loginctl activate \(ShellWord.quoted(facts.id))"))
        }
        return DoctorRow(name, .ok, "\(session), at this machine, active")
    }

    /// Whether the keychain is locked, and what unlocks it.
    package static func lock(_ report: StatusReport?, _ session: LoginFacts?) -> DoctorRow {
        let name = "lock"
        guard let report else { return DoctorRow(name, .absent, "not known while latchkeyd does not answer") }
        guard report.isLocked else { return DoctorRow(name, .ok, "the keychain is not locked") }
        if let session, session.isLocked {
            return DoctorRow(
                name, .attention, "the keychain is locked with session \(session.id)",
                .init("loginctl unlock-session \(ShellWord.quoted(session.id))"))
        }
        return DoctorRow(
            name, .attention, "the keychain is locked, so most items cannot be read", .init("latchkey unlock"))
    }
}

/// The units of the system services.
package struct UnitFacts: Equatable, Sendable {
    package static let sockets = ["latchkeyd.socket", "latchkey-authd.socket", "latchkey-agents.socket"]

    /// The states of each unit, as systemd names them.
    package struct Unit: Equatable, Sendable {
        package var name: String
        package var load: String
        package var active: String

        package init(_ name: String, load: String, active: String) {
            (self.name, self.load, self.active) = (name, load, active)
        }
    }
    /// Nil if systemd does not run, or does not answer.
    package var units: [Unit]?
}

extension UnitFacts {
    package init(_ places: MachinePlaces, seconds: Int64) {
        let properties = ["Id", "LoadState", "ActiveState"].map { "--property=" + $0 }
        guard Files.exists(places.serviceManager),
            let lines = ProgramOutput.lines(places.systemctl, ["show"] + properties + Self.sockets, seconds: seconds)
        else {
            units = nil
            return
        }
        // The properties of a unit follow its name, in the order of systemd.
        var found: [Unit] = []
        for line in lines {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "Id": found.append(Unit(parts[1], load: "", active: ""))
            case "LoadState": if !found.isEmpty { found[found.count - 1].load = parts[1] }
            case "ActiveState": if !found.isEmpty { found[found.count - 1].active = parts[1] }
            default: break
            }
        }
        units = found
    }
}

extension DoctorRow {
    /// Whether systemd listens for the system services.
    package static func units(_ facts: UnitFacts, isInstalled: Bool) -> DoctorRow {
        let name = "units"
        guard isInstalled else { return DoctorRow(name, .absent, "the services of the system are not installed") }
        guard let units = facts.units else {
            return DoctorRow(name, .absent, "systemd does not run here; something else starts the services")
        }
        let missing = UnitFacts.sockets.filter { socket in
            !units.contains { $0.name == socket && $0.load == "loaded" }
        }
        guard missing.isEmpty else {
            return DoctorRow(
                name, .attention, "systemd does not know \(missing.joined(separator: ", "))",
                .init("systemctl daemon-reload", needsRoot: true))
        }
        let stopped = units.filter { UnitFacts.sockets.contains($0.name) && $0.active != "active" }.map(\.name)
        guard stopped.isEmpty else {
            let names = stopped.joined(separator: " ")
            return DoctorRow(
                name, .attention, "\(stopped.joined(separator: ", ")) not active",
                .init("systemctl enable --now \(names)", needsRoot: true))
        }
        return DoctorRow(name, .ok, "\(UnitFacts.sockets.joined(separator: ", ")) are active")
    }
}
