// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// Where a prompt could be shown to the user of this process.
package struct SessionFacts: Equatable, Sendable {
    package var terminal: String?
    /// Whether the terminal is the user's: a prompt is shown on no other one, as after `su`.
    package var ownsTerminal = true
    /// The login session (`XDG_SESSION_ID`).
    package var session: String?
    /// The display of the session, such as `wayland-0` or `:0`.
    package var display: String?
    package var isRemote: Bool

    package init(terminal: String? = nil, session: String? = nil, display: String? = nil, isRemote: Bool = false) {
        (self.terminal, self.session, self.display, self.isRemote) = (terminal, session, display, isRemote)
    }

    /// Reads the environment and the kernel's record of this process.
    package init() {
        let device = Terminal.controlling(getpid())
        let path = Terminal.path(of: device)
        terminal = device == 0 ? nil : path ?? "a terminal"
        // What cannot be read is not said to be wrong.
        ownsTerminal = path.flatMap { PathState($0) }.map { $0.owner == geteuid() } ?? true
        session = Environment.value("XDG_SESSION_ID")
        display = Environment.value("WAYLAND_DISPLAY") ?? Environment.value("DISPLAY")
        isRemote = Environment.value("SSH_CONNECTION") != nil
    }
}

/// The program that shows prompts in a window.
package struct AgentFacts: Equatable, Sendable {
    private static let programName = "latchkey-agent"
    /// Maximum processes of a machine.
    private static let processLimit = 1 << 22

    package var process: Int32?
    package var entry: String?
    /// The program that the entry starts, and whether it exists.
    package var program: String?
    package var isProgramThere = false

    /// The value of `Exec` of a desktop entry that has no arguments.
    private static func program(ofEntry path: String) -> String? {
        // An entry that cannot be read starts nothing.
        guard let bytes = try? Files.read(path, limit: 64 << 10) else { return nil }
        let lines = String(decoding: bytes.copyBytes(), as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("Exec=") }.map { String($0.dropFirst("Exec=".count)) }
    }

    /// Name and user are in `/proc/PID/status`, which every user may read (proc(5)).
    private static func process(below folder: String, of user: UInt32) -> Int32? {
        guard let names = try? Descriptor.open(folder, O_RDONLY | O_DIRECTORY).names(limit: processLimit) else {
            return nil
        }
        for name in names {
            // A process can end while the list is read.
            guard let number = Int32(name.description),
                let bytes = try? Descriptor.open("\(folder)/\(name)/status", O_RDONLY).readAll(limit: 64 << 10)
            else { continue }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            if lines.contains("Name:\t\(programName)"), lines.contains(where: { $0.hasPrefix("Uid:\t\(user)\t") }) {
                return number
            }
        }
        return nil
    }
}

extension AgentFacts {
    /// Looks for a process of `user` and for the autostart entry.
    package init(_ places: MachinePlaces, user: UInt32 = geteuid()) {
        entry = places.autostart.first(where: Files.exists)
        program = entry.flatMap(Self.program(ofEntry:))
        isProgramThere = program.map { access($0, X_OK) == 0 } ?? false
        process = Self.process(below: places.processes, of: user)
    }
}

extension DoctorRow {
    /// Terminal, login session and display of this process.
    package static func session(_ facts: SessionFacts) -> DoctorRow {
        if let terminal = facts.terminal, !facts.ownsTerminal, facts.display == nil {
            return DoctorRow(
                "session", .attention, "terminal \(terminal) belongs to another user, so no prompt is shown on it",
                .init("script -q /dev/null"))
        }
        let parts = [
            facts.terminal.map { "terminal \($0)" }, facts.session.map { "session \($0)" },
            facts.display.map { "display \($0)" }, facts.isRemote ? "over SSH" : nil,
        ].compactMap { $0 }
        guard facts.terminal != nil || facts.display != nil else {
            let known = parts.joined(separator: ", ")
            return DoctorRow(
                "session", .absent,
                parts.isEmpty
                    ? "neither a terminal nor a display, so a program started here can show no prompt"
                    : "\(known), neither a terminal nor a display, so a program started here can show no prompt")
        }
        return DoctorRow("session", .ok, "\(parts.joined(separator: ", "))")
    }

    /// The agent, which programs without a terminal need in a graphical session.
    package static func agent(_ facts: AgentFacts, _ session: SessionFacts) -> DoctorRow {
        let name = "agent"
        if let process = facts.process { return DoctorRow(name, .ok, "latchkey-agent runs, process \(process)") }
        guard session.display != nil else {
            return DoctorRow(name, .absent, "not running; without a display, prompts need a terminal")
        }
        let install = Hint("make install PART=agent PREFIX=~/.local")
        guard let entry = facts.entry, let program = facts.program else {
            return DoctorRow(
                name, .attention,
                "latchkey-agent does not start with this session, so programs without a terminal cannot prompt",
                install)
        }
        guard facts.isProgramThere else {
            return DoctorRow(
                name, .attention,
                "\(entry) starts \(program), which is missing, so programs without a terminal cannot prompt", install)
        }
        return DoctorRow(
            name, .attention, "latchkey-agent is not running, so programs without a terminal cannot prompt",
            .init("setsid -f \(ShellWord.quoted(program))"))
    }
}
