// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

@testable import SQLiteDriver

/// Tests of the commands that recover a store which another program has restored or changed.
@Suite struct StoreRecoveryTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        for name in ["one", "two"] {
            let stored = try daemon.run("latchkey", ["set", "--protect", "none", name], input: "secret of \(name)")
            #expect(stored.exitCode == 0, "\(stored.errors)")
        }
    }

    private func run(_ arguments: String..., input: String = "") throws -> Finished {
        try daemon.run("latchkey", arguments, input: input)
    }

    /// Terminates the daemon normally, so that its database is one file and its anchor is current.
    private func stop() throws {
        let process = try #require(try daemon.process)
        kill(process, SIGTERM)
        #expect(Processes.hasEnded(process, within: 20))
    }

    private func file(_ name: String) throws -> SecretBytes {
        try #require(try Files.read(daemon.folder + "/" + name, limit: 1 << 24))
    }

    /// Sends a request as an app that the daemon has not seen before, with the agent that shows its prompt.
    private func ask(_ request: Request, _ agent: RawAgent, _ answers: [PromptEvent]) throws -> Reply? {
        let app = try RawClient(daemon, hello: Request.Hello(application: "evil"))
        try app.send(request, id: 1)
        let prompt = try agent.shown()
        #expect(prompt.purpose == .acceptStore && prompt.ownName == "evil")
        try agent.send(.visible, to: prompt.id)
        for answer in answers { try agent.send(answer, to: prompt.id) }
        return try app.receive()?.reply
    }

    private func word(_ text: String) -> PromptEvent { .codeEntered(SecretBytes(text.utf8)) }

    /// The agent of the session, registered with a daemon that runs.
    private func agent() throws -> RawAgent {
        _ = try daemon.run("latchkey", ["status"])
        return try RawAgent(daemon)
    }

    /// Runs `latchkey check --accept` and types the word at the prompt of the daemon.
    private func accept(_ typed: String) throws -> (output: String, exitCode: CInt) {
        let agent = try agent()
        defer { shutdown(agent.socket.number, CInt(SHUT_RDWR)) }
        let command = try RunningProgram(daemon, "latchkey", ["check", "--accept"])
        let prompt = try agent.shown()
        #expect(
            prompt.purpose == .acceptStore && prompt.caller == "latchkey" && prompt.content.step == .recoveryCodeAsked)
        try agent.send(.visible, to: prompt.id)
        try agent.send(word(typed), to: prompt.id)
        return try command.end()
    }

    private func put(_ bytes: SecretBytes?, _ name: String) throws {
        let path = daemon.folder + "/" + name
        if let bytes { try Files.replace(path, with: bytes) } else { Files.remove(path) }
    }

    @Test(.promise("rollback.end")) func oldDatabaseIsRefusedAndCanBeAccepted_abuse29() throws {
        try stop()
        let old = try file("keychain.sqlite")
        #expect(try run("set", "--protect", "none", "three", input: "3").exitCode == 0)
        try stop()
        try put(old, "keychain.sqlite")
        let refused = try run("get", "one")
        #expect(refused.exitCode != 0 && refused.errors.contains("older than the file anchor"), "\(refused)")
        #expect(refused.errors.contains("latchkey check --accept"))
        #expect(try run("status").output.contains("anchor") || run("status").errors.contains("anchor"))
        let silent = try run("check", "--accept", input: "accept\n")
        #expect(silent.exitCode == 77, "a pipe is no person: \(silent)")
        #expect(silent.errors.contains("No prompt can be shown") && silent.errors.contains("latchkey-agent"))
        #expect(try run("get", "one").exitCode != 0)
        let wrong = try accept("yes")
        #expect(
            wrong.exitCode == 77 && wrong.output.contains("Nothing was changed"), "the word must be typed: \(wrong)")
        #expect(try run("get", "one").exitCode != 0)
        let accepted = try accept("accept")
        #expect(accepted.exitCode == 0, "\(accepted)")
        #expect(try run("get", "one").output == "secret of one")
        #expect(try run("log").output.contains("rollback accepted"))
    }

    @Test(.promise("anchor.missing")) func missingAnchorIsReportedAndProtectedItemsCanBeDiscarded() throws {
        try stop()
        try put(nil, "anchor")
        let refused = try run("get", "one")
        #expect(refused.exitCode != 0 && refused.errors.contains("anchor is missing"), "\(refused)")
        #expect(refused.errors.contains("latchkey reset --protected"))
        #expect(try run("reset", "--protected", input: "no\n").exitCode == 64)
        #expect(try run("reset", input: "discard\n").exitCode == 64)
        let discarded = try run("reset", "--protected", input: "discard\n")
        #expect(discarded.exitCode == 0, "\(discarded)")
        #expect(try run("get", "one").output == "secret of one")
        #expect(try run("log").output.contains("discarded"))
    }

    @Test(.promise("rows.reported"), arguments: [(["check", "--accept"], "accept\n"), (["reset"], "reset\n")])
    func restoredRowIsDetectedByStoreCheckUntilTheStoreIsAcceptedOrReset(command: [String], word: String) throws {
        try stop()
        let path = daemon.folder + "/keychain.sqlite"
        let rows = try SQLiteItemStore.open(path).read { (store) throws(Failure) in
            var rows: [StoredRow] = []
            try store.forEachRow(.all) { (row) throws(Failure) in
                rows.append(row)
                return true
            }
            return rows
        }
        #expect(try run("delete", "one").exitCode == 0)
        try stop()
        try SQLiteItemStore.open(path).write { (store) throws(Failure) in try store.insert(rows[0]) }
        #expect(try run("get", "two").output == "secret of two")
        // The write runs after the slices of the store check.
        #expect(try run("set", "--protect", "none", "later", input: "x").exitCode == 0)
        let log = try run("log")
        #expect(log.output.contains("rows changed"), "\(log.output)")
        let status = try run("status")
        #expect((status.output + status.errors).contains("latchkey check"), "\(status)")
        #expect(try run("check").output.contains("The rows are not those that were stored"))
        if command == ["check", "--accept"] {
            let done = try accept("accept")
            #expect(done.exitCode == 0, "\(done)")
        } else {
            let done = try daemon.run("latchkey", command, input: word)
            #expect(done.exitCode == 0, "\(done)")
        }
        let after = try run("status")
        #expect(after.exitCode == 0 && !(after.output + after.errors).contains("latchkey check"), "\(after)")
    }

    /// A store that the status shows as sound, although a row does not fit its index.
    @Test func acceptingAsksWhenOnlyACheckFindsTheProblem() throws {
        #expect(try run("check", "--accept").output.contains("nothing to accept"))
        try stop()
        try SQLiteItemStore.open(daemon.folder + "/keychain.sqlite").write { (store) throws(Failure) in
            var rows: [StoredRow] = []
            try store.forEachRow(.all) { (row) throws(Failure) in
                rows.append(row)
                return true
            }
            rows[0].indexes[2] = [UInt8](repeating: 7, count: 16)
            try store.replace(rows[0])
        }
        #expect(try run("status").exitCode == 0)
        #expect(try run("check").exitCode != 0)
        let unasked = try run("check", "--accept", input: "accept\n")
        #expect(unasked.exitCode == 77, "\(unasked)")
        #expect(try accept("no").exitCode == 77)
    }

    /// Without its record the keychain counts as locked, and no passcode could unlock it.
    @Test func acceptingUnlocksAKeychainWithoutAPasscode() throws {
        try stop()
        try SQLiteItemStore.open(daemon.folder + "/keychain.sqlite").write { (store) throws(Failure) in
            try store.setRecord("state", nil)
        }
        #expect(try run("get", "one").exitCode != 0)
        let accepted = try accept("accept")
        #expect(accepted.exitCode == 0, "\(accepted)")
        let read = try run("get", "one")
        #expect(read.output == "secret of one", "\(read)")
    }

    // MARK: - Attacks by an app that puts files back

    /// Any app can send the request. The prompt is not its own, and no answer but the word accepts.
    @Test(.promise("rollback.end")) func anAppThatPutAnOlderDatabaseBackCannotAcceptIt() throws {
        try stop()
        let old = try file("keychain.sqlite")
        #expect(try run("set", "--protect", "none", "three", input: "3").exitCode == 0)
        try stop()
        try put(old, "keychain.sqlite")
        let agent = try agent()
        #expect(try run("get", "one").errors.contains("older than the file anchor"))
        for answers in [
            [.cancel], [word("yes")], [word("")], [.codeAcknowledged, .passcode(SecretBytes("accept".utf8)), .cancel],
        ] {
            let reply = try ask(.acceptStore, agent, answers)
            guard case .failure(let failure)? = reply else {
                Issue.record("accepted after \(answers)")
                return
            }
            #expect([.userCancel, .systemCancel].contains(failure.status), "\(failure)")
            #expect(try agent.receive() != nil, "the prompt ends")
        }
        #expect(try run("get", "one").exitCode != 0)
        #expect(try ask(.acceptStore, agent, [word("accept")]) == .done)
        #expect(try run("get", "one").output == "secret of one")
    }

    /// The anchor of the time before the first passcode, with which any app could set a passcode of its own and open what
    /// the passcode of the user protects.
    @Test(.promise("rollback.passcode")) func anAnchorFromBeforeThePasscodeIsNotAccepted() throws {
        try stop()
        let old = try file("anchor")
        #expect(try run("passcode", "set", input: "the user's passcode\n").exitCode == 0)
        let app = try RawClient(daemon, hello: Request.Hello(application: "notes"))
        #expect(
            try app.call(.adding("protected", secret: [7], rule: AccessControl(constraints: .userPresence))) == .done)
        try stop()
        try put(old, "anchor")
        let agent = try agent()
        let evil = try RawClient(daemon, hello: Request.Hello(application: "notes"))
        for request in [Request.acceptStore, .setPasscode("evil"), .acceptStore] {
            guard case .failure(let failure)? = try evil.call(request, id: 2) else {
                Issue.record("\(request) succeeded")
                return
            }
            #expect(failure.status == .anchorOld, "\(failure)")
        }
        let accepted = try run("check", "--accept", input: "accept\n")
        #expect(accepted.exitCode != 0 && accepted.errors.contains("latchkey reset --protected"), "\(accepted)")
        // What the way out leaves has nothing that the lost passcode protected.
        #expect(try run("reset", "--protected", input: "discard\n").exitCode == 0)
        #expect(try run("passcode", "set", input: "evil\n").exitCode == 0)
        guard case .failure(let failure)? = try evil.call(.reading("protected"), id: 3) else {
            Issue.record("the item is read")
            return
        }
        #expect(failure.status == .itemNotFound)
        #expect(try run("get", "one").output == "secret of one")
        shutdown(agent.socket.number, CInt(SHUT_RDWR))
    }

    /// The newest anchor restores everything.
    @Test(.promise("rollback.end")) func theNewestAnchorEndsTheStateWithoutAccepting() throws {
        try stop()
        let old = try file("anchor")
        #expect(try run("passcode", "set", input: "the user's passcode\n").exitCode == 0)
        try stop()
        let newest = try file("anchor")
        try put(old, "anchor")
        #expect(try run("get", "one").exitCode != 0)
        try stop()
        try put(newest, "anchor")
        #expect(try run("get", "one").output == "secret of one")
    }
}
