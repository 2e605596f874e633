// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import TestPromises
import Testing

@testable import SQLiteDriver

/// Tests of `latchkey log` and `latchkey check`, also on stores that were edited manually.
@Suite struct CheckTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        for name in ["one", "two"] { try expectDone(["set", "--protect", "none", name], input: "secret of \(name)") }
    }

    private func run(_ arguments: String..., input: String = "") throws -> Finished {
        try daemon.run("latchkey", arguments, input: input)
    }

    private func expectDone(_ arguments: [String], input: String = "") throws {
        let done = try daemon.run("latchkey", arguments, input: input)
        #expect(done.exitCode == 0, "\(arguments): \(done.errors)")
    }

    private var database: String { daemon.folder + "/keychain.sqlite" }

    /// Edits the database while no daemon runs.
    private func edit(_ sql: String) throws {
        let process = try #require(try daemon.process)
        kill(process, SIGKILL)
        #expect(Processes.hasEnded(process, within: 20))
        try Connection(database, .write).execute(sql)
    }

    // MARK: - log

    @Test func auditLogShowsEventsAndCallers() throws {
        try expectDone(["delete", "one"])
        let table = try run("log")
        #expect(table.exitCode == 0)
        let lines = table.output.split(separator: "\n")
        #expect(lines.count == 5, "\(table.output)")
        #expect(lines[0].hasPrefix("ENTRY") && lines[1].contains("added") && lines[4].contains("deleted"))
        #expect(lines[2].contains("anchored"), "the first write of a boot moves the store generation")
        #expect(lines[4].contains("latchkey"))
        #expect(!table.output.contains("one"), "names of items are not part of the audit log")
    }

    @Test func auditLogInJSONHasOneObjectPerLine() throws {
        let lines = try run("log", "--json").output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("{\"entry\":1,\"time\":\"20") && lines[0].contains("\"event\":\"added\""))
        #expect(try run("log", "--json", "--limit", "1").output == lines[2] + "\n")
        #expect(try run("log", "--json", "--limit", "0").output.isEmpty)
        #expect(try run("log", "--json", "--limit", "100").output.split(separator: "\n").count == 3)
    }

    @Test func auditLogOfSeveralPartsIsComplete() throws {
        let client = try RawClient(daemon)
        for number in 1...(Limits.auditEntries + 10) {
            #expect(try client.call(.adding("item \(number)"), id: number) == .done)
        }
        let count = Int(Limits.auditEntries) + 13
        let lines = try run("log", "--json").output.split(separator: "\n")
        #expect(lines.count == count)
        #expect(lines.last?.hasPrefix("{\"entry\":\(count),") == true)
        let verified = try run("log", "--verify")
        #expect(verified.output.hasPrefix("The audit log is complete: \(count) entries, the last of 20"), "\(verified)")
        let checked = try run("check")
        #expect(checked.output == "No problem found: \(2 * count - 1) rows and entries were checked.\n", "\(checked)")
    }

    @Test func intactAuditLogIsReported() throws {
        let text = try run("log", "--verify")
        #expect(text.exitCode == 0)
        #expect(text.output.hasPrefix("The audit log is complete: 3 entries"), "\(text)")
        let json = try run("log", "--verify", "--json")
        #expect(json.output.hasPrefix("{\"whole\":true,\"entries\":3,\"newest\":{\"entry\":3,"), "\(json)")
    }

    @Test(.promise("attacker.edits")) func brokenAuditLogReportsPosition() throws {
        try edit("DELETE FROM audit WHERE sequence = 1")
        let text = try run("log", "--verify")
        #expect(text.exitCode == 1)
        #expect(text.errors.contains("error: The audit log breaks at entry 1: it is missing."), "\(text.errors)")
        #expect(text.errors.contains("hint: "))
        let json = try run("log", "--verify", "--json")
        #expect(json.exitCode == 1)
        #expect(json.output.contains("\"kind\":\"entryMissing\",\"number\":1"), "\(json.output)")
        #expect(try run("log").output.contains("added"), "the remaining entries are shown")
    }

    // MARK: - check

    @Test func intactStoreIsReported() throws {
        let text = try run("check")
        #expect(text.exitCode == 0, "\(text)")
        #expect(text.output == "No problem found: 5 rows and entries were checked.\n")
        #expect(text.errors.isEmpty, "progress is shown only on a terminal")
        #expect(try run("check", "--json").output == "{\"whole\":true,\"checked\":5,\"findings\":[]}\n")
    }

    @Test func findingsAreReportedWithAdvice() throws {
        try edit("UPDATE item SET grp = zeroblob(16) WHERE position = 1; DELETE FROM item WHERE position = 2")
        let text = try run("check")
        #expect(text.exitCode == 1)
        #expect(text.output.contains("Row 1, item ") && text.output.contains("its index does not match its attributes"))
        #expect(text.output.contains("--replace"), "what to do")
        #expect(text.output.contains("is missing, although the audit log has no deletion of it"))
        #expect(text.errors.contains("error: 3 problems found.") && text.errors.contains("hint: "), "\(text.errors)")
        let json = try run("check", "--json")
        #expect(json.exitCode == 1)
        #expect(json.output.contains("\"whole\":false") && json.output.contains("\"kind\":\"indexWrong\",\"number\":1"))
    }

    @Test(.promise("attacker.edits")) func damagedItemIsQuarantinedAndOthersRemain_KC17_abuse33() throws {
        // The version in the first bytes does not change.
        try edit(
            "UPDATE item SET attributes = CAST(substr(attributes, 1, 13) || zeroblob(80) AS BLOB) WHERE position = 1")
        let found = try run("check")
        #expect(found.exitCode == 1)
        #expect(found.output.contains("Row 1, item ") && found.output.contains("its attributes fail authentication"))
        let list = try run("list")
        #expect(list.output.contains("\ntwo ") && !list.output.contains("\none "), "\(list)")
        #expect(try run("get", "one").exitCode == 66)
        #expect(try run("get", "two").output == "secret of two")
        try waitForQuarantine()
        let status = try run("status")
        #expect(status.exitCode == 0)
        #expect(status.output.contains("\nquarantine ") && status.output.contains("1 damaged, see: latchkey check"))
        let checked = try run("check")
        #expect(checked.exitCode == 0, "the damaged item is quarantined")
        #expect(checked.output.contains("was damaged and is quarantined (entry 4)"), "\(checked.output)")
        #expect(try run("log").output.contains("quarantined"))
        try expectDone(["set", "--protect", "none", "one"], input: "anew")
        #expect(try run("get", "one").output == "anew")
    }

    /// Writes run in order, so once this one is answered, the item has been moved.
    private func waitForQuarantine() throws {
        try expectDone(["set", "--protect", "none", "later"], input: "x")
        #expect(try run("status", "--json").output.contains("\"quarantined\":1"))
    }

    @Test(.promise("attacker.edits")) func changedHeaderRefusesWholeStore_abuse33() throws {
        try edit("UPDATE record SET value = zeroblob(32) WHERE name = 'header.code'")
        for command in ["list", "log", "check", "status"] {
            let refused = try run(command)
            #expect(refused.exitCode == 1, "\(command)")
            #expect(refused.errors.contains("its header was changed"), "\(refused.errors)")
        }
    }

    @Test(arguments: [
        ["log", "x"], ["log", "--limit"], ["log", "--limit", "many"], ["log", "--limit", "1", "--verify"],
        ["check", "x"],
    ])
    func wrongUsageIsExplained(arguments: [String]) throws {
        let answer = try daemon.run("latchkey", arguments)
        #expect(answer.exitCode == 64)
        #expect(answer.errors.hasPrefix("error: ") && answer.errors.contains("hint: "), "\(answer.errors)")
    }

    // MARK: - check --restore

    @Test func repairedItemIsRestored_KC17() throws {
        try edit("UPDATE item SET secret = CAST(secret || x'00' AS BLOB) WHERE position = 1")
        #expect(try run("get", "one").exitCode == 66)
        #expect(try run("check", "--restore").output.contains("damaged and is quarantined"))
        #expect(try run("get", "one").exitCode == 66)
        // Removes the appended byte again.
        try edit("UPDATE quarantine SET secret = substr(secret, 1, length(secret) - 1)")
        let done = try run("check", "--restore", "--json")
        #expect(done.exitCode == 0, "\(done.errors)")
        #expect(done.output.hasPrefix("{\"aside\":1,\"restored\":1,\"findings\":[{\"kind\":\"restored\""))
        #expect(try run("get", "one").output == "secret of one")
        #expect(try run("list").output.split(separator: "\n").map { $0.prefix(3) } == ["NAM", "one", "two"])
        #expect(try run("check").exitCode == 0)
        #expect(try run("log").output.contains("restored"))
        #expect(try run("check", "--restore").output == "No item is quarantined.\n")
    }

    @Test func itemWhoseNameIsTakenStaysQuarantined_KC17() throws {
        try edit("UPDATE item SET secret = CAST(secret || x'00' AS BLOB) WHERE position = 1")
        #expect(try run("get", "one").exitCode == 66)
        try expectDone(["set", "--protect", "none", "one"], input: "anew")
        try edit("UPDATE quarantine SET secret = substr(secret, 1, length(secret) - 1)")
        let stays = try run("check", "--restore")
        #expect(stays.exitCode == 0)
        #expect(
            stays.output.contains("another item has its name") && stays.output.hasSuffix("0 of 1 items restored.\n"))
        #expect(try run("get", "one").output == "anew")
        try expectDone(["delete", "one"])
        try expectDone(["check", "--restore"])
        #expect(try run("get", "one").output == "secret of one")
    }

    @Test func restoreAcceptsNoArgument() throws {
        #expect(try run("check", "--restore", "one").exitCode == 64)
    }
}
