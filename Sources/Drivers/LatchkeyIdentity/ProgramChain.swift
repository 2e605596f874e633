// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem

/// A process with those that started it, up to a terminal, a desktop session or a service manager.
///
/// A name for people and for answers that people give, in every tier a courtesy among the programs of one user: each of them
/// can start another one, and change the code that an interpreter executes. So an interpreter, or a program that only passes
/// on what another one asks, is named with what started it.
package struct ProgramChain: Equatable, Sendable {
    /// The paths of the executables, the asking program first.
    package let programs: [String]

    /// Before the path of a program that is not determined.
    package static let undetermined = "undetermined:"

    /// The longest chain; what is above it is left out.
    private static let length = 12

    /// A file name with an arrow would look like two programs.
    package init(_ programs: [String]) {
        self.programs = programs.map { program in
            String(String.UnicodeScalarView(program.unicodeScalars.map { $0 == "←" ? "\u{fffd}" : $0 }))
        }
    }

    /// The program to which items and answers belong: its path, and those above it as far as each only passes on what
    /// another one asks.
    package var name: String {
        var named: [String] = []
        for program in programs {
            if Self.begins(Self.name(of: program)) && !named.isEmpty { break }
            named.append(program)
            guard Self.passesOn(Self.name(of: program)) else { break }
        }
        return named.joined(separator: Limits.startedByArrow)
    }

    /// The names of the programs that started it, the last one first; up to a terminal or a session, which is left out if it is
    /// a service manager.
    package var startedBy: String {
        var named: [String] = []
        for program in programs.dropFirst() {
            let name = Self.name(of: program)
            if Self.managers.contains(name) { break }
            named.append(name)
            if Self.begins(name) { break }
        }
        return named.joined(separator: Limits.startedByArrow)
    }

    private static func name(of path: String) -> String { path.parts(at: "/").last.map(String.init) ?? path }

    /// Whether the program reads secrets only for the one that started it.
    private static func passesOn(_ name: String) -> Bool {
        Interpreters.contains(name) || passing.contains(name) || name.begins(with: "git-credential-")
            || name.begins(with: "docker-credential-") || name.begins(with: "cargo-credential-")
    }

    private static let passing: Set<String> = [
        "secret-tool", "busctl", "gdbus", "dbus-send", "dbus-monitor", "qdbus", "latchkey", "git", "git-remote-http",
        "lssecret", "libsecret-1-test",
    ]

    /// Whether a person starts programs with it, so that nothing above it says who asks.
    private static func begins(_ name: String) -> Bool { managers.contains(name) || surroundings.contains(name) }

    private static let managers: Set<String> = [
        "systemd", "init", "cron", "crond", "atd", "dbus-daemon", "dbus-broker",
    ]

    private static let surroundings: Set<String> = [
        "gnome-terminal-server", "gnome-terminal", "kgx", "ptyxis", "ptyxis-agent", "konsole", "xterm",
        "xfce4-terminal",
        "alacritty", "kitty", "foot", "wezterm-gui", "tilix", "terminator", "lxterminal", "mate-terminal", "rxvt", "st",
        "urxvt", "ghostty", "login", "sshd", "sshd-session", "gnome-shell", "gnome-session-binary", "plasmashell",
        "startplasma-wayland", "startplasma-x11", "xfce4-session", "lxsession", "sway", "i3", "Xwayland", "Xorg",
    ]

    /// Reads the chain of a running process.
    ///
    /// - Parameter path: the path of the executable of a process.
    /// - Throws: what `path` throws for the process itself. One that started it, and that has ended or cannot be
    ///   determined, ends the chain.
    package init(
        of process: NamedProcess, path: (ProcessName) throws(Failure) -> String
    ) throws(Failure) {
        var programs = [try path(process.name)]
        var child = process
        while programs.count < Self.length, let parent = child.parent() {
            do throws(Failure) {
                programs.append(try path(parent.name))
            } catch {
                break
            }
            child = parent
        }
        self.init(programs)
    }
}
