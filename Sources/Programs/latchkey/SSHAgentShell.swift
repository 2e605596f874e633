// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem

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
