// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import Testing

/// Compares the table of commands with help and manual page.
@Suite struct CommandTableTests {
    private struct Entry: Hashable, Comparable {
        var command: String
        var options: Set<String>
        static func < (left: Entry, right: Entry) -> Bool { left.command < right.command }
    }

    /// Parses `latchkey help --json`, relying on names and summaries without quotation marks.
    private static func table() throws -> [Entry] {
        let text = try TestDaemon().run("latchkey", ["help", "--json"]).output
        return text.split(separator: "{").dropFirst().map { object in
            let strings = object.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
            let command = strings[strings.firstIndex(of: "command").map { $0 + 2 } ?? 0]
            return Entry(command: command, options: Set(strings.filter { $0.hasPrefix("--") }))
        }
    }

    /// The entries `.It Cm` of the manual page, with the options named in these lines.
    private static func manual() throws -> [Entry] {
        let path = Files.folder(of: Files.folder(of: Files.folder(of: #filePath))) + "/packaging/man/latchkey.1"
        let bytes = try #require(try Files.read(path, limit: 1 << 20))
        let lines = String(decoding: bytes.copyBytes(), as: UTF8.self).split(separator: "\n")
        return lines.filter { $0.hasPrefix(".It Cm ") }.map { line in
            let words = line.split(separator: " ").dropFirst(2).map(String.init)
            let command = words.prefix { !["Ar", "Op", "Oo", "Fl", "Oc"].contains($0) }
            let options = words.filter { $0.hasPrefix("-") }.map { "-" + $0 }
            return Entry(command: command.joined(separator: " "), options: Set(options))
        }
    }

    @Test func manualPageListsEveryCommandWithItsOptions() throws {
        let common: Set = ["--help", "--json"]
        let table = try Self.table().map { Entry(command: $0.command, options: $0.options.subtracting(common)) }
        let manual = try Self.manual()
        #expect(table.count > 40)
        for entry in table.sorted() {
            let pages = manual.filter { $0.command == entry.command }
            #expect(pages.count == 1, "\(entry.command) is \(pages.count) times in the manual page")
            #expect(pages.first?.options == entry.options, "\(entry.command): options of the manual page")
        }
        for entry in manual {
            #expect(table.contains { $0.command == entry.command }, "the manual page has \(entry.command)")
        }
    }

    @Test func helpOfEveryCommandNamesItsOptions() throws {
        let daemon = try TestDaemon()
        for entry in try Self.table() {
            let help = try daemon.run("latchkey", ["help"] + entry.command.split(separator: " ").map(String.init))
            #expect(help.exitCode == 0 && help.output.hasPrefix("usage: latchkey \(entry.command)"), "\(help)")
            for option in entry.options { #expect(help.output.contains(option), "\(entry.command) \(option)") }
            let lines = help.output.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= 120 }, "\(entry.command): a line is longer than 120 columns")
        }
    }

    /// A command refuses every option of other commands.
    @Test func optionsOfOtherCommandsAreRefused() throws {
        let daemon = try TestDaemon()
        let table = try Self.table()
        let all = Set(table.flatMap(\.options))
        for entry in table {
            let words = entry.command.split(separator: " ").map(String.init)
            for option in all.subtracting(entry.options) {
                let refused = try daemon.run("latchkey", words + [option])
                #expect(refused.exitCode == 64, "\(entry.command) \(option)")
                #expect(refused.errors.contains("has no option \(option)"), "\(refused.errors)")
            }
        }
        // None of these commands has started a daemon.
        #expect(try daemon.process == nil)
    }
}
