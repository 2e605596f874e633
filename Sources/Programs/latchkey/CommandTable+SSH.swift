// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    static let ssh = [
        CommandEntry(
            "ssh-agent", "sign for ssh with keys of the enclave, after a finger or the passcode", [],
            [
                CommandOption(.reuse, "seconds for which one proof is enough for the same host and process; 0 to 300"),
                CommandOption(.allowUnbound, "also sign logins to a host that is not known"),
                CommandOption(.foreground, "stay in the foreground, and prompt on this terminal"),
                CommandOption(.kill, "end the agent that runs in the background"),
                CommandOption(.sh, "write lines for sh, also if SHELL is a csh"),
                CommandOption(.csh, "write lines for csh"),
            ], takesJSON: false,
            about: """
                Serves the keys that latchkey key create --ssh made. For a shell: eval "$(latchkey ssh-agent)". The agent
                runs in the background and is ended by --kill; where one runs already, the lines name that one. In the
                background it has no terminal, and its prompts appear in the window of latchkey-agent. Prompts name the
                host, the user and the program that asks.

                It signs a login to the host whose key signed the session (OpenSSH 8.9 and later prove that to the agent),
                and a message in the format of ssh-keygen -Y sign, which git uses. Everything else is refused. Without
                --reuse, every signature has a prompt. --allow-unbound is for programs that prove no session: the prompt
                then says that the host is unknown.
                """, action: SSHAgentCommand.run)
    ]
}
