// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
package import LatchkeyModel
import LatchkeySystem

/// The daemon's program and its version.
package struct ProgramFacts: Equatable, Sendable {
    /// The path of latchkeyd, or why there is none.
    package var program: Result<String, Failure>
    /// Whether `LATCHKEY_DAEMON` names it.
    package var isChosen = false
    /// The first line that it prints for `--version`; nil if it prints none in time.
    package var version: String?
    /// Whether the program that shows prompts on a terminal is beside it.
    package var hasPrompt = true
    /// Whether `latchkey-authd`, which speaks to fprintd and logind, is beside it.
    package var hasSensors = false
    /// The first line that `latchkey-authd` prints for `--version`; nil if it prints none in time.
    package var authorityVersion: String?
}

extension ProgramFacts {
    /// Finds the program as clients do, and asks it for its version.
    package init(seconds: Int64) {
        program = Result { () throws(Failure) in try DaemonProgram.find() }
        isChosen = Environment.value("LATCHKEY_DAEMON") != nil
        // Without a program there is nothing to ask.
        guard case .success(let path) = program else {
            version = nil
            hasPrompt = false
            return
        }
        version = ProgramOutput.lines(path, ["--version"], seconds: seconds)?.first
        hasPrompt = PathState(Files.folder(of: path) + "/latchkey-prompt")?.kind == .file
        let authority = Files.folder(of: path) + "/latchkey-authd"
        hasSensors = PathState(authority)?.kind == .file
        if hasSensors { authorityVersion = ProgramOutput.lines(authority, ["--version"], seconds: seconds)?.first }
    }
}

extension DoctorRow.Hint {
    /// Installs programs and SDK for one user; run in a checkout of Latchkey.
    static let install = DoctorRow.Hint("make install PREFIX=~/.local")
}

extension DoctorRow {
    /// Whether the daemon answers. A user's own daemon need not run: the first call starts it.
    ///
    /// - Parameter isNew: whether there is no store yet. Nothing is unknown then, and the row of the passcode has the first
    ///   call to make.
    package static func service(
        _ answer: DaemonProbe.Answer, isSystem: Bool, lock: String, isNew: Bool = false
    ) -> DoctorRow {
        let name = "service"
        switch answer {
        case .answered(let report):
            return DoctorRow(name, .ok, "latchkeyd answers, process \(report.processID)")
        case .notRunning:
            return DoctorRow(
                name, .absent, "latchkeyd is not running; the first call starts it",
                isNew ? nil : .init("latchkey status"))
        case .failed(let failure, let process):
            if isSystem {
                // A socket that is not trusted is mended by the command of the row of the sockets.
                let restart = Hint("systemctl restart latchkeyd latchkey-authd", needsRoot: true)
                return DoctorRow(name, .attention, failure.text, failure.status == .peerNotTrusted ? nil : restart)
            }
            if failure.status == .peerNotTrusted {
                return DoctorRow(name, .attention, failure.text, .init("rm -f \(ShellWord.quoted(lock))"))
            }
            // The store survives that its daemon is killed at any time.
            return DoctorRow(
                name, .attention, failure.text + (process.map { " It is process \($0)." } ?? ""),
                process.map { .init("kill -KILL \($0)") })
        }
    }

    /// The daemon's program and `latchkey-authd`: found, complete, and of the version of this program.
    package static func program(_ facts: ProgramFacts) -> DoctorRow {
        let name = "daemon program"
        let hint = facts.isChosen ? Hint("unset LATCHKEY_DAEMON") : Hint.install
        let path: String
        switch facts.program {
        case .failure(let failure): return DoctorRow(name, .attention, failure.text, hint)
        case .success(let found): path = found
        }
        var programs = [(path, facts.version, "latchkeyd")]
        if facts.hasSensors {
            programs.append((Files.folder(of: path) + "/latchkey-authd", facts.authorityVersion, "latchkey-authd"))
        }
        for (path, version, program) in programs {
            guard let version else { return DoctorRow(name, .attention, "\(path) does not print its version", hint) }
            guard version == "\(program) \(productVersion)" else {
                return DoctorRow(
                    name, .attention, "\(path) is \(version), but this is latchkey \(productVersion)", hint)
            }
        }
        guard facts.hasPrompt else {
            return DoctorRow(
                name, .attention, "\(path) has no latchkey-prompt beside it, so no terminal can prompt", hint)
        }
        return DoctorRow(name, .ok, "\(path), version \(productVersion)")
    }
}
