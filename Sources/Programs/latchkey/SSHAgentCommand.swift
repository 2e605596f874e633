// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import SSHAgent

/// ssh-agent: serves the keys for SSH to ssh(1), in the background or in the foreground.
enum SSHAgentCommand {
    private static let socketName = "ssh-agent"

    static func run(_ options: Options) throws(CommandFailure) {
        let chosen = try agentOptions(options)
        let shell = try SSHAgentShell(options)
        let words = agentWords(options)
        guard !options.has(.kill) || words.isEmpty && !options.has(.foreground) else {
            throw .usage("--kill starts no agent, so no option of an agent can follow", "See: latchkey help ssh-agent")
        }
        // Before the first thread exists.
        let activated = ActivatedSockets.take()[socketName]
        try failing { () throws(Failure) in
            if let activated { return try serve(activated, chosen) }
            let place = try SSHAgentPlace()
            let detached = DetachedSSHAgent(place: place, shell: shell)
            if options.has(.kill) { return try detached.end() }
            if options.has(.foreground) { return try serve(place, shell, chosen) }
            try detached.start(words)
        }
    }

    private static func agentOptions(_ options: Options) throws(CommandFailure) -> SSHAgent.Options {
        var chosen = SSHAgent.Options()
        chosen.allowsUnbound = options.has(.allowUnbound)
        guard let text = options[.reuse] else { return chosen }
        guard let seconds = Int64(text), (0...SSHAgentLimits.reuseSeconds).contains(seconds) else {
            throw .usage(
                "--reuse takes seconds, 0 to \(SSHAgentLimits.reuseSeconds), not \(text)",
                "See: latchkey help ssh-agent")
        }
        chosen.reuseSeconds = seconds
        return chosen
    }

    /// The options of the agent itself, as they are typed.
    private static func agentWords(_ options: Options) -> [String] {
        (options[.reuse].map { [OptionName.reuse.word, $0] } ?? [])
            + (options.has(.allowUnbound) ? [OptionName.allowUnbound.word] : [])
    }

    // MARK: - Serving

    /// Listens at the place of this user, writes the line that a shell evaluates, and serves until a signal ends the process.
    private static func serve(
        _ place: SSHAgentPlace, _ shell: SSHAgentShell, _ chosen: SSHAgent.Options
    ) throws(Failure) {
        let signals = DaemonProcess.blockEndingSignals()
        guard let (listener, lock) = try place.listen() else {
            throw Failure(
                .duplicateItem, "Another agent serves \(place.socket).",
                hint: "Use it with: export SSH_AUTH_SOCK=\(place.socket)")
        }
        DaemonProcess.stop(on: signals) {
            // The lock is held until the process has ended, so the socket is still that of this agent.
            Files.remove(place.socket)
            ProgramEnd.now()
        }
        Output.write(shell.set("SSH_AUTH_SOCK", place.socket))
        try serve(listener, chosen)
        withExtendedLifetime(lock) {}
    }

    private static func serve(_ listener: Descriptor, _ chosen: SSHAgent.Options) throws(Failure) {
        let agent = SSHAgent(DaemonKeyStore(), chosen, words: localized) { Output.log("latchkey ssh-agent: \($0)") }
        do throws(SystemError) {
            try SSHAgentServer(listener, agent).run()
        } catch {
            throw Failure(error, "The socket of the agent cannot be served")
        }
    }
}

/// The shell that evaluates what `latchkey ssh-agent` writes, as ssh-agent(1) chooses it. Values have plain characters only.
enum SSHAgentShell {
    case sh, csh

    init(_ options: Options) throws(CommandFailure) {
        guard !options.has(.sh) || !options.has(.csh) else {
            throw .usage("--sh and --csh exclude each other", "See: latchkey help ssh-agent")
        }
        let isCsh = options.has(.csh) || !options.has(.sh) && Environment.value("SHELL")?.hasSuffix("csh") == true
        self = isCsh ? .csh : .sh
    }

    func set(_ name: String, _ value: String) -> String {
        switch self {
        case .sh: "\(name)=\(value); export \(name);\n"
        case .csh: "setenv \(name) \(value);\n"
        }
    }

    func unset(_ name: String) -> String {
        switch self {
        case .sh: "unset \(name);\n"
        case .csh: "unsetenv \(name);\n"
        }
    }
}
