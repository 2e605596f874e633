// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

@main
enum Main {
    static func main() {
        let arguments = CredentialTool.words + ProgramStart.beginWithBytes()
        do throws(CommandFailure) {
            try run(arguments)
        } catch {
            error.report()
            ProgramEnd.now(error.exitCode)
        }
        ProgramEnd.now()
    }

    private static func run(_ arguments: [[UInt8]]) throws(CommandFailure) {
        // Commands are ASCII, so that an escaped word is none.
        let shown = arguments.map { String(showing: $0) }
        guard let name = shown.first else {
            Output.writeError(Help.overview)
            ProgramEnd.now(64)
        }
        switch name {
        case "--help", "-h": return Output.write(Help.overview)
        case "--version": return Output.write("latchkey \(productVersion)\n")
        // Not in the table: the words after it belong to another command.
        case "complete":
            return Output.write(Completion.lines(Array(shown.dropFirst(2))).map { $0 + "\n" }.joined())
        default: break
        }
        // A group without a verb has its own help.
        if shown.count == 2, ["--help", "-h"].contains(shown[1]), CommandTable.group(name) != nil {
            return Output.write(try Help.text([name]))
        }
        let (entry, _) = try CommandTable.entry(shown)
        let options = try Options(entry, Array(arguments.dropFirst(entry.words.count)))
        if options.wantsHelp { return Output.write(Help.text(entry)) }
        try entry.action(options)
    }
}
