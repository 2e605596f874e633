// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySystem

extension ProcessFacts {
    /// The identity of a process with these facts. Whatever is missing or unknown gives less, never more.
    package func identity(of name: ProcessName, _ declarations: AppDeclarations) -> ProgramIdentity {
        var identity = ProgramIdentity.undetermined(name.userID)
        guard userIDs.first == name.userID else { return identity }
        identity.execution = execution
        let place = controlGroup.flatMap(ControlGroup.init)
        identity.session = place?.session(of: name.userID) ?? ""
        // The number of a terminal has another meaning in a mount namespace with its own devpts.
        identity.terminal = ownsTerminal && isInSystemNamespaces ? terminal : 0
        if let program, isInSystemNamespaces, Self.isUsable(program.path) { identity.executable = program.path }
        // A program with set-user-ID acts for two users; it has the identity of neither.
        guard userIDs.count == 4, userIDs.allSatisfy({ $0 == name.userID }) else { return identity }
        if let path = protectedProgram {
            identity.strength = .program
            (identity.program, identity.executable) = (path, "")
            if let declaration = declarations.declaration(ofProgram: path) {
                identity.label = declaration.name
                identity.application = declaration.name
                identity.groups = [declaration.name] + declaration.groups
            } else {
                identity.label = Files.name(of: path)
                identity.application = path
                identity.groups = [path]
            }
        } else if Self.belongsToOneService(name.userID), let unit = place?.systemUnit {
            identity.strength = .unit
            identity.label = unit
            identity.application = "unit:" + unit
            identity.groups = ["unit:" + unit]
        } else if case .app(let app) = sandbox {
            identity.sandbox = app
        }
        return identity
    }

    /// The path of the program, if it identifies the program: only root can have put this file there, and it executes
    /// no code of the user that the user has chosen by an ordinary means.
    private var protectedProgram: String? {
        guard isInSystemNamespaces, !isTraced, !loadsForeignCode, let executable, let program,
            Self.isUsable(program.path), ProtectedPath.isProtected(program.components),
            // The path leads to the very file that is executed (abuse case 6): another file may be at this path now.
            program.components.last?.status.file == executable, program.isELF,
            !Interpreters.contains(Files.name(of: program.path))
        else { return nil }
        return program.path
    }

    /// Whether a path can be the name of an identity: plain ASCII, so that it cannot be confused with another in a
    /// prompt, and of a length that an access group may have.
    private static func isUsable(_ path: String) -> Bool {
        path.begins(with: "/") && path.utf8.count <= Limits.applicationBytes && !path.ends(with: " (deleted)")
            && path.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    /// Whether a user id is one of the system's services: below the first login user, or of DynamicUser= of systemd.
    private static func belongsToOneService(_ user: UInt32) -> Bool {
        (1...999).contains(user) || (61_184...65_519).contains(user)
    }
}
