// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import SeamStandIns
import Testing

@testable import LatchkeyService

/// Calls of `latchkeyd` that arrive while `latchkey-authd` still reads the records of the user, as after a restart.
@Suite struct AttachmentTests {
    private let machine: TwoServices
    private let work = HeldWorkQueue()

    init() throws {
        machine = try TwoServices()
        #expect(machine.setPasscode("abcdef") == [.done])
        machine.work(on: work)
        machine.crashAuthority()
    }

    private func statuses(_ replies: [Reply]) -> [Status] {
        replies.compactMap { if case .failure(let failure) = $0 { failure.status } else { nil } }
    }

    private var shows: Int { machine.seen.count.load(ordering: .relaxed) }

    @Test func aLockThatArrivesMeanwhileIsNotForgotten() throws {
        let replies = machine.answers(machine.session(), .lock)
        #expect(try machine.keychain.tree.lockState.isLocked && replies().isEmpty)
        work.run()
        #expect(replies() == [.done] && machine.authority.state.isLocked)
        #expect(statuses(machine.evaluate()()) == [.notInteractive])
    }

    @Test func anEvaluationThatArrivesMeanwhileIsAskedAfterwardsAndEndsWithALock() throws {
        let before = shows
        let replies = machine.evaluate()
        #expect(shows == before && replies().isEmpty)
        work.run()
        #expect(shows == before + 1 && replies().isEmpty)
        #expect(machine.authority.shownPrompts.count == 1)
        #expect(machine.answers(machine.session(), .lock)() == [.done])
        #expect(statuses(replies()) == [.systemCancel])
        #expect(machine.seen.shown == nil)
    }

    @Test func anEvaluationThatIsCancelledMeanwhileIsNotAsked() throws {
        let before = shows
        let session = machine.session()
        let replies = machine.evaluate(in: session)
        session.close()
        work.run()
        #expect(shows == before && machine.authority.shownPrompts.isEmpty)
        #expect(statuses(replies()) == [.systemCancel])
        #expect(machine.evaluate()().isEmpty && shows == before + 1)
    }

    @Test func anEvaluationOfAConnectionThatEndsMeanwhileIsNotAsked() throws {
        let before = shows
        let replies = machine.evaluate()
        machine.crashAuthority()
        #expect(statuses(replies()) == [.systemCancel])
        work.run()
        #expect(shows == before)
    }

    /// What programs can cause leaves room for a lock.
    @Test func aLockIsNotRefusedBehindAsManyEvaluationsAsMayWait() throws {
        let replies = (0..<1100).map { _ in machine.evaluate() }
        #expect(replies.contains { !statuses($0()).isEmpty }, "those beyond the limit are refused")
        let lock = machine.answers(machine.session(), .lock)
        work.run()
        #expect(lock() == [.done] && machine.authority.state.isLocked && machine.seen.shown == nil)
    }

    /// What the earlier latchkeyd had sent is read after its connection has given way to the next one.
    @Test func aCallOfAConnectionThatHasEndedIsNotHandled() throws {
        let ended = try #require(machine.connection)
        machine.crashAuthority()
        let call = AuthorityCall.attach(
            AuthorityCall.Attach(userID: 1001, isPasscodeSet: false, isLocked: false, recoveryCopy: []))
        let frame = ServiceMessage.authorityCall(1, call).encoded()
        #expect(!ended.received(frame))
        #expect(try #require(machine.connection).received(frame), "the next connection handles it")
    }
}
