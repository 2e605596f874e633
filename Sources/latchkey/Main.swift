// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

@main
enum Main {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(CommandFailure) {
            try run(arguments)
        } catch {
            error.report()
            exit(error.exitCode)
        }
    }

    private static func run(_ arguments: [String]) throws(CommandFailure) {
        guard let name = arguments.first else {
            Output.write(Help.overview)
            exit(64)
        }
        switch name {
        case "--help", "-h", "help": return Output.write(Help.overview)
        case "--version": return Output.write("latchkey 0.1.0\n")
        default: break
        }
        guard let command = Command(rawValue: name) else {
            throw .usage("unknown command \(name)", "See: latchkey --help")
        }
        let options = try Options(command, Array(arguments.dropFirst()))
        if options.wantsHelp { return Output.write(Help.text(command)) }
        switch command {
        case .set: try Items.set(options)
        case .get: try Items.get(options)
        case .list: try Items.list(options)
        case .delete: try Items.delete(options)
        case .key: try KeyCommand.run(options)
        case .passcode: try Passcode.run(options)
        case .status: try StatusCommand.run(options)
        case .apps: try Apps.run(options)
        case .export: try Backup.write(options)
        case .import: try Backup.read(options)
        case .lock: try Lock.run(.lock, options)
        case .unlock: try Lock.run(.unlock(Prompting()), options)
        case .log: try LogCommand.run(options)
        case .check: try CheckCommand.run(options)
        case .reset: try WaysOut.reset(options)
        case .sim: try Simulation.run(options)
        }
    }
}

/// The commands.
enum Command: String {
    case set, get, list, delete, key, passcode, status, log, check, lock, unlock, export, `import`, apps, sim, reset
}
