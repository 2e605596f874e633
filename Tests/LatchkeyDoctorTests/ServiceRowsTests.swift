// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct ServiceRowsTests {
    private static func service(_ answer: DaemonProbe.Answer, isSystem: Bool = false) -> DoctorRow {
        .service(answer, isSystem: isSystem, lock: "/s/daemon.lock")
    }

    @Test func answersHaveTheirNextStep() {
        let silent = Failure(.timedOut, "No answer.")
        #expect(Self.service(.answered(.sound)) == DoctorRow("service", .ok, "latchkeyd answers, process 7"))
        #expect(Self.service(.notRunning).state == .absent)
        #expect(Self.service(.notRunning).hint?.command == "latchkey status")
        #expect(DoctorRow.service(.notRunning, isSystem: false, lock: "", isNew: true).hint == nil)
        #expect(Self.service(.failed(silent, process: 7)).hint?.command == "kill -KILL 7")
        #expect(Self.service(.failed(silent, process: nil)).state == .attention)
        let system = Self.service(.failed(silent, process: nil), isSystem: true)
        #expect(system.hint == .init("systemctl restart latchkeyd latchkey-authd", needsRoot: true))
    }

    @Test func socketsThatAreNotTrustedAreNotRestarted() {
        let forged = Failure(.peerNotTrusted, "The socket belongs to user 3.")
        #expect(Self.service(.failed(forged, process: 7)).hint?.command == "rm -f /s/daemon.lock")
        #expect(Self.service(.failed(forged, process: nil), isSystem: true).hint == nil)
    }

    @Test func programOfAnotherVersionIsReplaced() {
        let right = "latchkeyd \(productVersion)"
        let sound = ProgramFacts(program: .success("/p/latchkeyd"), version: right)
        #expect(DoctorRow.program(sound).state == .ok)
        let missing = ProgramFacts(program: .failure(Failure(.daemonUnavailable, "Not installed.")), version: nil)
        for facts in [
            missing, ProgramFacts(program: .success("/p/latchkeyd"), version: "latchkeyd 0.0.9"),
            ProgramFacts(program: .success("/p/latchkeyd"), version: nil),
            ProgramFacts(program: .success("/p/latchkeyd"), version: right, hasPrompt: false),
        ] {
            #expect(DoctorRow.program(facts).state == .attention)
            #expect(DoctorRow.program(facts).hint?.command == "make install PREFIX=~/.local")
            var chosen = facts
            chosen.isChosen = true
            #expect(DoctorRow.program(chosen).hint?.command == "unset LATCHKEY_DAEMON")
        }
    }

    @Test(arguments: ["latchkey-authd 0.0.9", nil])
    func anAuthorityOfAnotherVersionIsReplaced(version: String?) {
        var facts = ProgramFacts(program: .success("/p/latchkeyd"), version: "latchkeyd \(productVersion)")
        facts.hasSensors = true
        facts.authorityVersion = version
        let row = DoctorRow.program(facts)
        #expect(row.state == .attention && row.found.hasPrefix("/p/latchkey-authd "), "\(row)")
        #expect(row.hint?.command == "make install PREFIX=~/.local")
        facts.authorityVersion = "latchkey-authd \(productVersion)"
        #expect(DoctorRow.program(facts).state == .ok)
    }

    /// A listener that accepts no connection, and whose queue is full, delays nothing longer than the time limit.
    @Test func silentSocketEndsWithTheTimeLimit() throws {
        let machine = try TemporaryMachine()
        let listeners = try machine.listen()
        let begin = Uptime.nanoseconds
        var answer = DaemonProbe.ask(machine.places.sockets, servedBy: geteuid(), seconds: 1)
        guard case .failed(let failure, nil) = answer else { throw failureOf("it answered") }
        #expect(failure.status == .timedOut)
        // Connections that are never accepted fill the queue.
        var waiting: [Descriptor] = []
        while let next = try? Sockets.connect(machine.places.sockets.keychain, seconds: 1) { waiting.append(next) }
        answer = DaemonProbe.ask(machine.places.sockets, servedBy: geteuid(), seconds: 1)
        guard case .failed(let full, nil) = answer else { throw failureOf("it answered") }
        #expect(full.status == .daemonUnavailable)
        #expect(Uptime.nanoseconds - begin < 20_000_000_000)
        withExtendedLifetime((listeners, waiting)) {}
    }

    @Test func probeCreatesNothing() throws {
        let machine = try TemporaryMachine()
        #expect(DaemonProbe.ask(storeIn: machine.root + "/none", seconds: 1) == .notRunning)
        #expect(DaemonProbe.ask(storeIn: machine.root, seconds: 1) == .notRunning)
        #expect(!Files.exists(machine.root + "/none") && !Files.exists(machine.root + "/daemon.lock"))
    }

    /// A daemon that was killed leaves its address in the file.
    @Test func addressOfADaemonThatWasKilledIsNotUsed() throws {
        let machine = try TemporaryMachine()
        try machine.write("/daemon.lock", "1\n/tmp/latchkey-none.sock\n1\n", mode: 0o600)
        #expect(DaemonProbe.ask(storeIn: machine.root, seconds: 1) == .notRunning)
    }

    @Test func programThatDoesNotEndIsKilled() throws {
        let begin = Uptime.nanoseconds
        #expect(ProgramOutput.lines("/bin/sh", ["-c", "echo one; exec sleep 600"], seconds: 1) == nil)
        #expect(Uptime.nanoseconds - begin < 20_000_000_000)
        #expect(ProgramOutput.lines("/bin/sh", ["-c", "echo one; echo two"], seconds: 20) == ["one", "two"])
        #expect(ProgramOutput.lines("/bin/sh", ["-c", "echo one; exit 3"], seconds: 20) == nil)
        #expect(ProgramOutput.lines("/bin/sh", ["-c", "yes"], seconds: 20) == nil)
        #expect(ProgramOutput.lines("/none", [], seconds: 20) == nil)
    }

    private func failureOf(_ message: Phrase) -> Failure { Failure(.internalFailure, message) }
}
