// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import Testing

/// Failed attempts remain counted across crashes, changes of the clock and edits of the file (abuse cases 27 and 28).
@Suite struct LockoutTests {
    private let daemon: TestDaemon
    private static let passcode = "1234\n"

    /// A program that reads the protected item of its own access group.
    private struct App {
        var program: String
        var arguments: [String]
        var group: String
    }
    private static let one = App(program: "latchkey", arguments: ["get", "protected", "--service", ""], group: "one")
    private static let two = App(program: "latchkey-test-client", arguments: ["read", "protected"], group: "two")

    init() throws {
        daemon = try TestDaemon(simulated: true)
        try daemon.start()
        try latchkey("sim", "enroll")
        try latchkey("sim", "passcode", "set", input: Self.passcode)
        // This accessibility class is readable before the passcode was entered, so that only biometry is required.
        let rule = AccessControl(accessibility: .whenUnlocked, constraints: .biometryAny)
        for app in [Self.one, Self.two] {
            let client = try RawClient(daemon, hello: Request.Hello(application: app.group))
            let stored = try client.call(.adding("protected", secret: Array("value".utf8), rule: rule), id: 2)
            #expect(stored == .done)
        }
    }

    private func environment(_ app: App) -> [String] {
        daemon.environment.filter { !$0.hasPrefix("LATCHKEY_APP_ID=") } + ["LATCHKEY_APP_ID=\(app.group)"]
    }

    @discardableResult
    private func latchkey(_ arguments: String..., input: String = "", exitCode: CInt = 0) throws -> Finished {
        let finished = try daemon.run("latchkey", arguments, input: input)
        #expect(finished.exitCode == exitCode, "\(arguments): \(finished)")
        return finished
    }

    /// Shows the prompt of an app and touches the sensor with an unenrolled finger until the prompt ends.
    private func miss(_ times: Int, in app: App) throws {
        let terminal = try PseudoTerminal()
        let caller = try terminal.spawn(
            TestDaemon.programs + "/" + app.program, app.arguments, environment: environment(app))
        for _ in 1...times {
            #expect(terminal.read(through: "Touch the sensor") != nil)
            try latchkey("sim", "touch", "--other")
        }
        let rest = terminal.readToEnd()
        #expect(!rest.contains("value") && !rest.contains("Touch the sensor"), "\(rest)")
        Processes.wait(caller)
    }

    /// Runs an app without a terminal.
    private func ask(_ app: App) throws -> Finished {
        try Finished(
            TestDaemon.programs + "/" + app.program, app.arguments, input: "", environment: environment(app))
    }

    /// Expects that both apps are refused without a prompt, and that the daemon reports the lockout.
    private func expectLockout() throws {
        #expect(try latchkey("status", "--json").output.contains("\"locked\":true"))
        #expect(try ask(Self.one).errors.contains("Biometry is locked after five tries"))
        #expect(try ask(Self.two).output.contains("read -25293 nothing"))
    }

    /// Runs `latchkey passcode check` on a terminal while `body` acts as the user; returns the rest of its output.
    @discardableResult
    private func check(exitCode: CInt, _ body: (PseudoTerminal) throws -> Void) throws -> String {
        let terminal = try PseudoTerminal()
        let caller = try terminal.spawn(
            TestDaemon.programs + "/latchkey", ["passcode", "check"], environment: daemon.environment)
        try body(terminal)
        let rest = terminal.readToEnd()
        #expect(Processes.wait(caller) >> 8 == exitCode, "\(rest)")
        return rest
    }

    private func enterWrongPasscode() throws {
        try check(exitCode: 77) { terminal in
            #expect(terminal.read(through: "Type your passcode") != nil)
            try latchkey("sim", "enter", input: "wrong\n")
            // During a delay the prompt says only that.
            #expect(terminal.read(through: "wrong") != nil)
            try latchkey("sim", "cancel")
        }
    }

    /// The delay in seconds until the next passcode is accepted, as shown by the prompt.
    private func delay() throws -> Int {
        var seconds = 0
        try check(exitCode: 77) { terminal in
            #expect(terminal.read(through: "Try again in ") != nil)
            let words = try #require(terminal.read(through: ".")).split(separator: " ")
            for (number, unit) in zip(words, words.dropFirst()) {
                seconds += (Int(number) ?? 0) * (unit.hasPrefix("minute") ? 60 : 1)
            }
            try latchkey("sim", "cancel")
        }
        return seconds
    }

    private func expectThatThePasscodeEndsTheLockout() throws {
        try check(exitCode: 0) { terminal in
            #expect(terminal.read(through: "Type your passcode") != nil)
            try latchkey("sim", "enter", input: Self.passcode)
        }
        #expect(try latchkey("status", "--json").output.contains("\"locked\":false"))
    }

    @Test(.promise("abuse.27")) func fiveFailuresInTwoAppsLockBothAndSurviveKill_LA28_abuse27() throws {
        try miss(3, in: Self.one)
        #expect(try latchkey("status", "--json").output.contains("\"locked\":false"))
        try daemon.crash()
        // Two of five attempts are left, also for another program and after a restart of the daemon.
        try miss(2, in: Self.two)
        try expectLockout()
        for _ in 1...3 {
            try daemon.crash()
            try expectLockout()
        }
        try expectThatThePasscodeEndsTheLockout()
        try daemon.crash()
        #expect(try latchkey("status", "--json").output.contains("\"locked\":false"), "the reset is durable, too")
    }

    /// Simulates a restart of the machine and changes of its clock with a preloaded library, `Forge/machine.c`.
    @Test(.promise("abuse.28")) func rebootAndWallClockDoNotShortenDelays_LA30_abuse27_abuse28() throws {
        try miss(3, in: Self.one)
        try miss(2, in: Self.two)
        // Enters five wrong passcodes, the last two after their delays have passed.
        for seconds in ["0", "0", "0", "5", "60"] {
            try latchkey("sim", "advance", seconds)
            try enterWrongPasscode()
        }
        #expect(try (200...300).contains(delay()))
        let library = try daemon.library("machine")

        for years in [-10, 10] {
            try daemon.crash()
            try daemon.start(environment: ["LD_PRELOAD=\(library)", "MOVED_WALL_SECONDS=\(years * 31_557_600)"])
            let now = wallTimeMicroseconds()
            let moved = try dateOfANewItem("moved by \(years) years") - now
            #expect(moved.magnitude > 9 * 31_557_600_000_000 && (moved < 0) == (years < 0), "its clock is moved")
            try expectLockout()
            #expect(try (100...300).contains(delay()), "\(years) years")
        }

        try daemon.crash()
        try daemon.write("00000000-1111-2222-3333-444444444444\n", to: "boot_id")
        let seconds = 10 - Uptime.nanoseconds / 1_000_000_000
        try daemon.start(environment: [
            "LD_PRELOAD=\(library)", "MOVED_BOOT_SECONDS=\(seconds)", "MOVED_BOOT_ID=\(daemon.folder)/boot_id",
        ])
        try expectLockout()
        // Without a new boot identifier, the earlier clock would be hours ahead, or the delay almost over.
        #expect(try (200...300).contains(delay()), "the delay restarts after a boot")
        try latchkey("sim", "advance", "300")
        try expectThatThePasscodeEndsTheLockout()
    }

    /// The daemon's wall clock when it stores an item, in microseconds since 1970.
    private func dateOfANewItem(_ name: String) throws -> Int64 {
        let client = try RawClient(daemon)
        #expect(try client.call(.adding(name), id: 1) == .done)
        guard case .items(let items, _)? = try client.call(.reading(name, returns: .attributes), id: 2),
            case .date(let microseconds)? = items.first?.attributes?[.creationDate]
        else { throw Failure(.itemNotFound, "\(name) has no date") }
        return microseconds
    }

    @Test(.promise("abuse.27"), arguments: [true, false])
    func editedOrDeletedCountersCountAsExhausted_abuse27(_ isDeleted: Bool) throws {
        try daemon.crash()
        try daemon.edit(file: "counters") { bytes in
            // Overwrites both slots, which follow the block with the mark.
            isDeleted ? nil : bytes.prefix(4100) + [UInt8](repeating: 7, count: bytes.count - 4100)
        }
        try expectLockout()
        #expect(try (3500...3600).contains(delay()))
        try daemon.crash()
        try expectLockout()
        try latchkey("sim", "advance", "3600")
        try expectThatThePasscodeEndsTheLockout()
    }
}
