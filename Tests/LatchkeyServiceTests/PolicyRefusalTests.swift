// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import Testing

@testable import LatchkeyService

/// An evaluation that is not granted is in the audit log, whether it was for an item or for the app itself.
@Suite struct PolicyRefusalTests {
    private let machine: InterruptedService

    init() throws {
        machine = try InterruptedService(WorldState(sensor: .none), work: ImmediateWorkQueue())
        #expect(machine.answers(.passcode(.set(SecretBytes("1234".utf8))))() == [.done])
    }

    private func refusals() throws -> [UInt64] {
        try machine.simulated.keychain.log(Request.Log(after: 0, limit: 100, verifies: false)).lines
            .filter { $0.event == .refused }.map(\.count)
    }

    private func status(_ replies: [Reply]) -> Status? {
        if case .failure(let failure)? = replies.last { failure.status } else { nil }
    }

    @Test func aPolicyThatIsCancelledIsRecordedBeforeTheReply() throws {
        let context = try machine.context()
        let replies = machine.answers(InterruptedService.evaluation(context, .deviceOwnerAuthentication))
        #expect(try refusals().isEmpty)
        machine.answers(.simulate(.cancel), id: 100)
        #expect(status(replies()) == .userCancel)
        #expect(try refusals() == [1])
        let log = try machine.simulated.keychain.log(Request.Log(after: 0, limit: 100, verifies: false)).lines
        #expect(log.last?.ground == .refused(.cancelled))
    }

    @Test func anAccessControlThatIsCancelledIsRecorded() throws {
        let rule = AccessControl(constraints: .userPresence)
        let request = Request.EvaluateAccessControl(
            context: try machine.context(), accessControl: rule, prompting: Prompting(reason: "test"))
        let replies = machine.answers(.evaluateAccessControl(request))
        machine.answers(.simulate(.cancel), id: 100)
        #expect(status(replies()) == .userCancel)
        #expect(try refusals() == [1])
    }

    @Test func aPolicyThatIsGrantedIsNotRecorded() throws {
        let replies = machine.answers(
            InterruptedService.evaluation(try machine.context(), .deviceOwnerAuthentication))
        machine.world.perform(.passcode(SecretBytes("1234".utf8)))
        #expect(status(replies()) == nil && replies().count == 1)
        #expect(try refusals().isEmpty)
    }

    /// The app only asks whether a proof is there.
    @Test func aPolicyWithoutInteractionIsNotRecorded() throws {
        let replies = machine.answers(
            InterruptedService.evaluation(
                try machine.context(), .deviceOwnerAuthentication, mayAsk: false))
        #expect(status(replies()) == .notInteractive)
        #expect(try refusals().isEmpty)
    }
}
