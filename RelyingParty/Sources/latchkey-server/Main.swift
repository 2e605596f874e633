// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty

/// The program: `latchkey-server CONFIGURATION COMMAND`, with the commands of the table.
@main
enum Main {
    static func main() {
        Output.fillClosedStreams()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        do {
            try run(try arguments())
        } catch let usage as Usage {
            fail(usage.message, usage.hint, usage.exitCode)
        } catch let error as RelyingPartyError {
            fail(words(error))
        } catch {
            fail("\(error)")
        }
        end()
    }

    /// Ends the program at once. exit(3) would first free what other threads still use, and crash them.
    static func end(_ code: CInt = 0) -> Never { _exit(code) }

    /// The words after the name of the program. One that is not UTF-8 is refused: repaired, it would name something else.
    private static func arguments() throws(Usage) -> [String] {
        var words: [String] = []
        for number in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[number], let word = String(validatingCString: argument) else {
                throw .command("argument \(number) is not valid UTF-8", hint: "Names and paths are UTF-8.")
            }
            words.append(word)
        }
        return words
    }

    private static func words(_ error: RelyingPartyError) -> String {
        switch error {
        case .refused(let reason): "refused (\(reason.rawValue))"
        case .malformed(let part): "the \(part) does not have the documented form, or is too long"
        case .unavailable(let text): text
        }
    }

    private static func fail(_ message: String, _ hint: String = "", _ code: CInt = 1) -> Never {
        Log.error("error: \(message)" + (hint.isEmpty ? "" : "\nhint: \(hint)"))
        end(code)
    }

    private static func run(_ arguments: [String]) throws {
        guard let first = arguments.first else {
            Log.error(String(Help.overview.dropLast()))
            end(64)
        }
        switch (first, arguments.dropFirst().first) {
        case ("--help", _), ("-h", _), ("help", nil): return Output.write(Help.overview)
        case ("--version", _): return Output.write("latchkey-server \(productVersion)\n")
        case ("help", let name?): return Output.write(Help.text(try CommandLineWords.command(name)))
        // Not in the table: the words after it belong to another command line.
        case ("complete", "--"):
            return Output.write(Completion.lines(Array(arguments.dropFirst(2))).map { $0 + "\n" }.joined())
        default: break
        }
        let line = try CommandLineWords(arguments)
        if line.options["--help"] != nil { return Output.write(Help.text(line.command)) }
        guard let text = String(validating: try Files.read(line.configuration), as: UTF8.self) else {
            throw Usage("\(line.configuration) is not valid UTF-8")
        }
        let configuration = try Configuration(text, Surroundings.values())
        // The database is created for its owner only.
        umask(0o077)
        try line.command.action(
            Invocation(
                command: line.command, configuration: configuration, words: line.words, options: line.options))
    }
}
