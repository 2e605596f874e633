// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SeamStandIns
import SimulatedDriver
import Synchronization
import SystemDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// The name in the audit log of a program whose process ends, or executes another program, while its request waits.
@Suite struct EndedProgramTests {
    private final class Process: CallerProcess {
        private let isOver = Atomic(false)
        var isUnchanged: Bool { !isOver.load(ordering: .acquiring) }
        func end() { isOver.store(true, ordering: .releasing) }
    }

    /// The program of the process, as one that calls the Secret Service.
    private struct Callers: SecretCallers {
        let process: Process
        var work: (any WorkQueue)? { nil }
        var importer: String { "" }

        func program(_ name: ProcessName, namedBy provider: Caller) throws(Failure) -> AskingProgram {
            let groups = [SecretService.group]
            // Process 8 has stored the items.
            guard name.processID == 7 else {
                return AskingProgram(
                    caller: Caller(groups: groups, label: "mail", processID: name.processID, userID: 1),
                    name: "/usr/bin/mail", isDetermined: true)
            }
            return AskingProgram(
                caller: Caller(groups: groups, label: "browser", processID: 7, userID: 1, process: process),
                name: "/usr/bin/browser", isDetermined: true)
        }

        func asker(_ process: ProcessName, namedBy agent: Caller) throws(Failure) -> Caller? { nil }
    }

    private let process = Process()
    private let machine: SimulatedService
    private let queue: HeldWorkQueue
    private let session: Session

    init() throws {
        let (process, queue) = (process, HeldWorkQueue())
        self.queue = queue
        machine = try SimulatedService { parts, _ in
            parts.work = queue
            parts.secretCallers = Callers(process: process)
        }
        session = machine.service.session(
            caller: Caller(groups: ["app"], label: "browser", processID: 7, userID: 1, process: process), terminal: 0,
            mayNameItself: false, hello: Request.Hello(application: ""))
        // By a program that goes on running.
        let add = Request.AddItem(
            attributes: [.account: .text("token")], accessControl: AccessControl(constraints: .userPresence),
            secret: SecretBytes("secret".utf8))
        for request in [.setPasscode("1234"), .addItem(add)] as [Request] {
            let answers = InterruptedService.answers(machine.handler(), request)
            queue.run()
            guard answers() == [.done] else { throw Failure(.internalFailure, "\(answers())") }
        }
    }

    private func lines(_ event: AuditEvent) throws -> [AuditLine] {
        queue.run()
        let request = Request.Log(after: 0, limit: Limits.auditEntries, verifies: true)
        return try machine.keychain.log(request).lines.filter { $0.event == event }
    }

    private func read() {
        InterruptedService.answers(session, .copyItems(Request.CopyItems(.password("token"))), id: 2)
    }

    private func use(_ action: SecretAction, by number: Int32, id: UInt64, over provider: Session) {
        let name = ProcessName(processID: number, startTime: 1, userID: 1)
        InterruptedService.answers(
            provider, .useSecrets(Request.UseSecrets(process: name, isPinned: true, action: action)), id: id)
        queue.run()
    }

    /// The kernel ends the process before the connection, and the daemon may see either first.
    @Test(.promise("name.ended"), arguments: [true, false])
    func aProgramThatEndsWhileItIsAskedForIsNamed(_ processFirst: Bool) throws {
        read()
        if processFirst { process.end() }
        session.close()
        process.end()
        let refusals = try lines(.refused)
        #expect(refusals.map(\.caller) == ["browser"] && refusals.map(\.processID) == [7])
        #expect(refusals.map(\.ground) == [.refused(.ended)])
    }

    @Test(.promise("name.ended")) func aTryForAnotherProgramHasNotItsName() throws {
        process.end()
        read()
        machine.world.perform(.touch(matching: false))
        #expect(try lines(.tryFailed).map(\.caller) == [Caller.undetermined], "another program may have asked")
    }

    @Test(.promise("name.ended")) func aTryAfterItsEndIsNamed() throws {
        read()
        process.end()
        machine.world.perform(.touch(matching: false))
        #expect(try lines(.tryFailed).map(\.caller) == ["browser"])
    }

    /// Its process executed another program, which then made the request.
    @Test(.promise("name.ended", "name.executable")) func aRequestOfAnotherProgramHasNotItsName() throws {
        process.end()
        read()
        session.close()
        #expect(try lines(.refused).map(\.caller) == [Caller.undetermined])
    }

    /// What a program asked for before must not give its name to what another one asks for later.
    @Test(.promise("name.ended")) func anEarlierRequestNamesNoLaterOne() throws {
        read()
        machine.world.perform(.cancel)
        #expect(try lines(.refused).map(\.caller) == ["browser"])
        process.end()
        InterruptedService.answers(session, .copyItems(Request.CopyItems(.password("token"))), id: 3)
        session.close()
        queue.run()
        try machine.keychain.recordGatheredRefusals()
        #expect(try lines(.refused).map(\.caller) == ["browser", Caller.undetermined])
    }

    /// The provider goes on running, and withdraws the call of a program that has left the message bus.
    @Test(.promise("name.ended")) func aProgramOfTheSecretServiceIsNamed() throws {
        let provider = machine.session()
        let item = NewSecret(
            collection: "login", label: "Mail", contentType: "text/plain", pairs: .none,
            secret: SecretBytes("secret".utf8))
        use(.store(item, replaces: false), by: 8, id: 1, over: provider)
        let stored = try lines(.added)
        #expect(stored.map(\.caller).last == "mail")
        let answers = Recorder<Reply>()
        provider.handle(
            2,
            .useSecrets(
                Request.UseSecrets(
                    process: ProcessName(processID: 8, startTime: 1, userID: 1), isPinned: true, action: .everyItem)),
            answers.add)
        queue.run()
        guard case .items(let items, more: false)? = answers.all.last,
            case .text(let identifier)? = items.first?.attributes?[.identifier]
        else {
            Issue.record("\(answers.all)")
            return
        }
        use(.read([identifier]), by: 7, id: 3, over: provider)
        process.end()
        provider.cancel(3)
        let refusals = try lines(.refused)
        #expect(refusals.map(\.caller) == ["browser"] && refusals.map(\.processID) == [7])
    }
}
