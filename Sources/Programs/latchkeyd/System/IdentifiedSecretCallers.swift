// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SystemDriver

/// The programs that call the Secret Service in tiers `file` and `tpm`: `latchkey-authd` determines the provider and each
/// program that it names.
struct IdentifiedSecretCallers: SecretCallers {
    let link: AuthorityLink
    /// The calls of `latchkey-authd` would block the thread that serves connections.
    private let queue = SerialWorkQueue { false }
    private let known = KnownPrograms<ProgramIdentity>()
    /// The one program that may pass on calls of others: its file, which only root can change, is its access group.
    private let provider = NamingPrograms.provider

    init(link: AuthorityLink) { self.link = link }

    var work: (any WorkQueue)? { queue }
    var importer: String { provider }

    func program(_ process: ProcessName, namedBy provider: Caller) throws(Failure) -> AskingProgram {
        guard provider.groups.containsBytes(of: self.provider) || process == provider.processName else {
            throw Failure(.notPermitted, "Only latchkey-secrets may pass on calls of other programs.")
        }
        // Asked for each call: it is another one after each execve(2).
        let identity = try link.identify(process)
        return try known.program(process, identity) { () throws(Failure) in try examined(process, identity) }
    }

    func asker(_ process: ProcessName, namedBy agent: Caller) throws(Failure) -> Caller? {
        guard agent.groups.contains(where: NamingPrograms.isAgent) else {
            throw Failure(.notPermitted, "Only latchkey may use a key for another program.")
        }
        let identity = try link.identify(process)
        return identity.terminal == 0 ? nil : identity.caller(process, process: try NamedProcess(process))
    }

    private func examined(_ process: ProcessName, _ identity: ProgramIdentity) throws(Failure) -> AskingProgram {
        let running = try NamedProcess(process)
        if let app = identity.sandbox {
            return AskingProgram(app, identity.caller(process, process: running), identity.label)
        }
        let chain = try ProgramChain(of: running) { (name) throws(Failure) in
            let known = name == process ? identity : try link.identify(name)
            guard known.program.isEmpty else { return known.program }
            // The asking program is one of all that are not determined. What started it has a name, which is not that of a
            // program that is determined.
            return name == process || known.executable.isEmpty
                ? known.label : ProgramChain.undetermined + known.executable
        }
        var caller = identity.caller(process, process: running)
        caller.groups = [SecretService.group]
        caller.application = SecretService.group
        caller.startedBy = chain.startedBy
        return AskingProgram(caller: caller, name: chain.name, isDetermined: identity.strength != .user)
    }
}

extension AskingProgram {
    /// A program that is not determined, whose sandbox names an app.
    ///
    /// It has items of its own, but no answer is stored for it: every program of the user can make such a sandbox, and would have
    /// what a person has answered to the app. With names of its choice such a program must not get more prompts either,
    /// so all that are not determined share them.
    fileprivate init(_ app: SandboxedApp, _ caller: Caller, _ undetermined: String) {
        self.init(caller: caller, name: app.owner, isDetermined: false, prompted: undetermined)
        self.caller.label = app.label
        self.caller.groups = [SecretService.group]
        self.caller.application = SecretService.group
    }
}
