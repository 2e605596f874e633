// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

/// Tests of each limit in docs/reference/protocol.md, from outside the daemon's process.
@Suite struct LimitTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon(simulated: true)
        try daemon.start()
    }

    private func status(_ reply: Reply?) -> Status? {
        if case .failure(let failure)? = reply { failure.status } else { nil }
    }

    /// The answer; nil when the daemon has closed the connection, before or after the request was sent.
    private func unlessClosed(_ call: () throws -> Reply?) throws -> Reply? {
        do {
            return try call()
        } catch FrameError.system(let error) where [EPIPE, ECONNRESET].contains(error.code) {
            return nil
        }
    }

    /// Whether the daemon still answers another connection.
    private func isServing() throws -> Bool {
        if case .status? = try unlessClosed({ try RawClient(daemon).call(.status) }) { true } else { false }
    }

    @Test(.promise("closed.unknown", "version.protocol")) func frameOfOtherVersionIsRefusedAndConnectionEnded() throws {
        let client = try RawClient(daemon)
        try client.send(bytes: [Limits.wireVersion - 1, 0, 0, 0, 1, 0])
        #expect(status(try client.receive()?.reply) == .unsupportedVersion)
        #expect(try client.receive() == nil)
        #expect(try isServing())
    }

    @Test func tooLongFrameIsRefusedBeforeItsPayloadIsRead() throws {
        let client = try RawClient(daemon)
        let count = Limits.frameBytes + 1
        try client.send(bytes: Frame.header(count))
        let answer = try client.receive()
        #expect(answer?.id == 0)
        #expect(status(answer?.reply) == .limitExceeded)
        #expect(try client.receive() == nil)
        #expect(try isServing())
    }

    @Test(.promise("version.operation")) func malformedRequestIsAnsweredAndConnectionContinues() throws {
        let client = try RawClient(daemon)
        // [0, 7, [99, {}]]: an operation that does not exist.
        try Frame.send(SecretBytes([0x83, 0x00, 0x07, 0x82, 0x18, 0x63, 0xa0]), to: client.socket)
        let unknown = try client.receive()
        #expect(unknown?.id == 7)
        #expect(status(unknown?.reply) == .unimplemented)
        // [0, 8, [2, {0: 0}]]: an unknown mandatory key.
        try Frame.send(SecretBytes([0x83, 0x00, 0x08, 0x82, 0x02, 0xa1, 0x00, 0x00]), to: client.socket)
        #expect(status(try client.receive()?.reply) == .malformedRequest)
        // Nested more deeply than any valid message.
        try Frame.send(SecretBytes([0x83, 0x00, 0x09] + [UInt8](repeating: 0x81, count: 5000)), to: client.socket)
        #expect(status(try client.receive()?.reply) == .malformedRequest)
        try Frame.send(SecretBytes([UInt8](repeating: 0xff, count: 64)), to: client.socket)
        #expect(status(try client.receive()?.reply) == .malformedRequest)
        guard case .status? = try client.call(.status, id: 10) else {
            Issue.record("the connection did not continue")
            return
        }
    }

    @Test func replyFromClientIsRefused() throws {
        let client = try RawClient(daemon)
        try Frame.send(Message.reply(id: 3, .done).encoded(), to: client.socket)
        #expect(status(try client.receive()?.reply) == .malformedRequest)
    }

    @Test func contextsOfOneConnectionAreLimited() throws {
        let client = try RawClient(daemon)
        for id in 1...UInt64(Limits.contexts) {
            guard case .context? = try client.call(.createContext, id: id) else {
                Issue.record("context \(id) was refused")
                return
            }
        }
        #expect(status(try client.call(.createContext, id: 5000)) == .limitExceeded)
        #expect(try isServing())
    }

    @Test func requestsWithoutAReplyAreLimited() throws {
        // Evaluations of callers without a terminal fail at once, so these run on a terminal without a user: the
        // first prompt stays open, and the others wait for it.
        let client = try RawClient(daemon)
        #expect(try client.call(.simulate(.enroll), id: 1) == .done)
        #expect(try client.call(.setPasscode("1234"), id: 2) == .done)
        let terminal = try PseudoTerminal()
        let holder = try terminal.spawn(
            TestDaemon.programs + "/latchkey-test-client", ["hold", "\(Limits.requestsInFlight + 1)"],
            environment: daemon.environment)
        defer {
            kill(holder, SIGKILL)
            Processes.wait(holder)
        }
        #expect(terminal.read(through: "limitExceeded 1") != nil, "one request more than the limit is refused")
    }

    @Test func connectionsOfOneProcessAreLimitedAndRefusalSaysSo() throws {
        var clients: [RawClient] = []
        for number in 1...Limits.connectionsOfProcess {
            let client = try RawClient(daemon)
            clients.append(client)
            // The first answer shows that the connection that waited for the daemon's start has ended, and the last
            // one that all of these are connected.
            if number == 1 || number == Limits.connectionsOfProcess { #expect(try client.call(.status) != nil) }
        }
        let extra = try RawClient(daemon)
        guard case .failure(let failure)? = try extra.receive()?.reply else {
            Issue.record("no reason was sent")
            return
        }
        #expect(failure.status == .limitExceeded)
        #expect(failure.message.contains("This process has \(Limits.connectionsOfProcess) connections"))
        #expect(try extra.receive() == nil)
        // Another process is served meanwhile, and this one after it has closed connections.
        let other = try daemon.run("latchkey", ["status"])
        #expect(other.exitCode == 0, "\(other.errors)")
        clients.removeAll()
        // The daemon may accept the next connection before it has noticed their end.
        let deadline = Uptime.deadline(seconds: 30)
        while try !isServing() { try #require(Uptime.nanoseconds < deadline, "served again") }
    }

    @Test(.promise("attacker.exhaustion")) func connectionsOfOneProgramAreLimitedAndOthersAreServed() throws {
        let perProcess = Limits.connectionsOfProcess
        var running: [RunningProgram] = []
        defer {
            for program in running {
                kill(program.process, SIGKILL)
                Processes.wait(program.process)
            }
        }
        for _ in 0..<Limits.connectionsOfProgram / perProcess {
            let program = try RunningProgram(daemon, "latchkey-test-client", ["connect", "\(perProcess)"])
            running.append(program)
            #expect(try program.line(beginning: "connected") == "connected \(perProcess)")
        }
        let next = try RunningProgram(daemon, "latchkey-test-client", ["connect", "1"])
        running.append(next)
        let reason = try next.line(beginning: "refused")
        #expect(
            reason?.hasPrefix(
                "refused limitExceeded The processes of this program have \(Limits.connectionsOfProgram)") == true,
            "\(reason ?? "nothing")")
        #expect(try isServing())
        #expect(try daemon.run("latchkey", ["status"]).exitCode == 0)
    }

    @Test(.promise("attacker.exhaustion")) func refusedPeerThatKeepsSendingCausesLittleLoadAndIsClosed() throws {
        let client = try RawClient(daemon)
        let secret = [UInt8](repeating: 0x5a, count: 600_000)
        #expect(try client.call(.adding("large", secret: secret), id: 1) == .done)
        let deaf = try RawClient(daemon)
        // Answers that exceed the socket's buffer, then a frame of another version.
        for id in 1...4 as ClosedRange<UInt64> { try deaf.send(.reading("large"), id: id) }
        try deaf.send(bytes: [0xff, 0, 0, 0, 0, 0])
        #expect(try isServing())
        _ = fcntl(deaf.socket.number, F_SETFL, O_NONBLOCK)
        let further = SecretBytes([UInt8](repeating: 0xff, count: 4096))
        while try further.withBytes({ (bytes) throws(SystemError) in try Sockets.send(deaf.socket, bytes) }) != nil {}
        let before = try daemon.computedMilliseconds
        var entry = pollfd(fd: deaf.socket.number, events: 0, revents: 0)
        #expect(poll(&entry, 1, 60_000) == 1 && entry.revents & Int16(POLLHUP) != 0, "closed at the deadline")
        let used = try daemon.computedMilliseconds - before
        #expect(
            used < Int(Limits.endSeconds) * 200, "a spinning loop would use all \(Limits.endSeconds) seconds")
    }

    @Test func incompleteFrameIsRefusedAtDeadline() throws {
        let client = try RawClient(daemon)
        let start = Uptime.nanoseconds
        try client.send(bytes: [Limits.wireVersion, 0, 0])
        #expect(status(try client.receive(seconds: 30)?.reply) == .timedOut)
        #expect(Uptime.nanoseconds - start >= (Limits.frameSeconds - 1) * 1_000_000_000)
        #expect(try isServing())
    }

    @Test func secretsAndAttributesAreLimited() throws {
        let client = try RawClient(daemon)
        let largest = [UInt8](repeating: 0xa5, count: Limits.secretBytes)
        #expect(try client.call(.adding("largest", secret: largest), id: 1) == .done)
        guard case .items(let items, _)? = try client.call(.reading("largest"), id: 2) else {
            Issue.record("the largest secret did not come back")
            return
        }
        #expect(items.first?.secret == SecretBytes(largest))
        #expect(status(try client.call(.adding("larger", secret: largest + [0]), id: 3)) == .dataTooLarge)
        let account = String(repeating: "a", count: Limits.attributeBytes + 1)
        #expect(status(try client.call(.adding(account), id: 4)) == .malformedRequest)
        let passcode = SecretBytes([UInt8](repeating: 0x31, count: Limits.passcodeBytes + 1))
        #expect(status(try client.call(.passcode(.set(passcode)), id: 5)) == .malformedRequest)
    }

    @Test func clientThatDoesNotReadIsDisconnectedAndOthersAreServed() throws {
        let client = try RawClient(daemon)
        let secret = [UInt8](repeating: 0x5a, count: Limits.secretBytes)
        #expect(try client.call(.adding("large", secret: secret), id: 1) == .done)
        let deaf = try RawClient(daemon)
        var id: UInt64 = 1
        // Requests answers of 1 MiB without reading them: more than may be queued.
        while id < UInt64(Limits.outgoingBytes / Limits.secretBytes) + 8 {
            guard (try? deaf.send(.reading("large"), id: id)) != nil else { break }
            id += 1
        }
        #expect(try isServing())
        var answers = 0
        while (try? deaf.receive()) ?? nil != nil { answers += 1 }
        #expect(answers < Limits.outgoingBytes / Limits.secretBytes + 2, "the connection was ended")
        #expect(try isServing())
    }

    @Test func longAnswerWaitsForSlowClientAndOthersAreServed() throws {
        let client = try RawClient(daemon)
        let secret = [UInt8](repeating: 0x5a, count: Limits.secretBytes)
        // One and a half times the limit of the queue: queued as a whole, the answer would end the connection.
        let count = Limits.outgoingBytes / Limits.secretBytes * 3 / 2
        for number in 0..<count {
            #expect(try client.call(.adding("large \(number)", secret: secret), id: UInt64(number)) == .done)
        }
        let slow = try RawClient(daemon)
        try slow.send(.readingAll, id: 1)
        guard case .items(var found, var more)? = try slow.receive()?.reply else {
            Issue.record("no answer")
            return
        }
        for id in 100..<200 as Range<UInt64> {
            guard case .items(let items, false)? = try client.call(.reading("large 1"), id: id) else {
                Issue.record("another client was not served")
                return
            }
            #expect(items.count == 1)
        }
        while more {
            guard case .items(let items, let goesOn)? = try slow.receive()?.reply else {
                Issue.record("the connection was ended")
                return
            }
            found += items
            more = goesOn
        }
        #expect(found.count == count)
        #expect(found.allSatisfy { $0.secret == SecretBytes(secret) })
        #expect(try slow.call(.status, id: 2) != nil)
    }

    @Test func disconnectionEndsLongAnswer() throws {
        let client = try RawClient(daemon)
        let secret = [UInt8](repeating: 0x5a, count: Limits.secretBytes)
        for number in 0..<6 {
            #expect(try client.call(.adding("large \(number)", secret: secret), id: UInt64(number)) == .done)
        }
        for _ in 0..<Limits.connections * 2 {
            // A connection may be refused until the daemon has noticed the end of earlier ones.
            guard let slow = try? RawClient(daemon) else { continue }
            try? slow.send(.readingAll, id: 1)
        }
        let deadline = Uptime.deadline(seconds: 30)
        while try !isServing() { try #require(Uptime.nanoseconds < deadline, "served again") }
    }
}
