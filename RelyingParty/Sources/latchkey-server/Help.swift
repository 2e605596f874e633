// SPDX-License-Identifier: Apache-2.0

/// The output of --help and `latchkey-server help`, made from the table.
enum Help {
    static var overview: String {
        let rows = Commands.all.map { (([$0.name] + $0.arguments).joined(separator: " "), $0.summary) }
        return """
            usage: latchkey-server CONFIGURATION COMMAND [options]

            Accepts public keys of devices, issues challenges, verifies signatures once, and opens sessions.

            \(list(rows))
            Options of a command: latchkey-server help COMMAND. Version: latchkey-server --version

            Exit codes: 0 done, 1 failed, 64 wrong usage.
            Environment: LATCHKEY_SERVER_NAME replaces the value of name in the configuration.

            """
    }

    /// The line that shows how a command is written.
    static func usage(_ command: Command) -> String {
        (["latchkey-server", "CONFIGURATION", command.name]
            + (command.options.isEmpty ? [] : ["[options]"]) + command.arguments).joined(separator: " ")
    }

    static func text(_ command: Command) -> String {
        let summary = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
        let rows = (command.options + [.help]).map { ($0.word + ($0.value.map { " \($0)" } ?? ""), $0.summary) }
        return """
            usage: \(usage(command))

            \([summary, command.about].filter { !$0.isEmpty }.joined(separator: "\n"))

            \(list(rows))
            """
    }

    private static func list(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { name, summary in
            "  " + name + String(repeating: " ", count: width - name.count + 2) + summary + "\n"
        }.joined()
    }
}
