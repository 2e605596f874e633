// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

@main
enum Main {
    static func main() {
        let arguments = ProgramStart.begin()
        do throws(CommandFailure) {
            try run(arguments)
        } catch {
            error.report()
            exit(error.exitCode)
        }
    }

    private static func run(_ arguments: [String]) throws(CommandFailure) {
        guard let name = arguments.first else {
            Output.writeError(Help.overview)
            exit(64)
        }
        switch name {
        case "--help", "-h": return Output.write(Help.overview)
        case "--version": return Output.write("latchkey \(productVersion)\n")
        // Not in the table: the words after it belong to another command.
        case "complete":
            return Output.write(Completion.lines(Array(arguments.dropFirst(2))).map { $0 + "\n" }.joined())
        default: break
        }
        // A group without a verb has its own help.
        if arguments.count == 2, ["--help", "-h"].contains(arguments[1]), CommandTable.group(name) != nil {
            return Output.write(try Help.text([name]))
        }
        let (entry, words) = try CommandTable.entry(arguments)
        let options = try Options(entry, words)
        if options.wantsHelp { return Output.write(Help.text(entry)) }
        try entry.action(options)
    }
}
