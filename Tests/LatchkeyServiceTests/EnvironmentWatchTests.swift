// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import SimulatedDriver
import SystemDriver
import TestSupport
import Testing

@testable import LatchkeyService

/// A client that waits for a change of the environment is notified of every change that the report shows (behaviours
/// EN-03 and EN-04).
@Suite struct EnvironmentWatchTests {
    private func usable(_ replies: [Reply]) -> Bool? {
        guard case .environment(let report)? = replies.first else { return nil }
        return report.isBiometryUsable
    }

    private func revision(_ machine: InterruptedService) throws -> UInt64 {
        guard case .environment(let report)? = machine.answers(.environment(unlike: nil))().first else {
            throw Failure(.internalFailure)
        }
        return report.revision
    }

    @Test func withdrawnFacePermissionIsReportedToWaitingClients_EN04_LA07() throws {
        let machine = try InterruptedService(
            WorldState(sensor: .faceID, enrolment: [1]), faceUsage: "tests", work: ImmediateWorkQueue())
        machine.answers(.setPasscode("1234"))
        machine.simulated.service.setFacePermission("app", true)
        let waiting = machine.answers(.environment(unlike: try revision(machine)), id: 2)
        #expect(waiting().isEmpty)
        machine.simulated.service.setFacePermission("app", false)
        #expect(usable(waiting()) == false)
    }

    @Test func passcodeThatBecomesRequiredIsReportedToWaitingClients_EN04() throws {
        let machine = try InterruptedService(work: ImmediateWorkQueue())
        machine.answers(.setPasscode("1234"))
        let waiting = machine.answers(.environment(unlike: try revision(machine)), id: 2)
        machine.answers(.simulate(.advance(seconds: 49 * 3600)))
        #expect(usable(waiting()) == false)
        let again = machine.answers(.environment(unlike: try revision(machine)), id: 2)
        machine.world.perform(.passcode(SecretBytes("1234".utf8)))
        machine.answers(InterruptedService.evaluation(try machine.context(), .deviceOwnerAuthentication))
        #expect(usable(again()) == true)
    }

    @Test func revisionOfAnEarlierDaemonIsNotTakenAsUpToDate_EN04() throws {
        let before = try revision(InterruptedService(work: ImmediateWorkQueue()))
        let machine = try InterruptedService(WorldState(sensor: .touchID), work: ImmediateWorkQueue())
        #expect(usable(machine.answers(.environment(unlike: before), id: 2)()) == false)
    }

    @Test func cancelEndsAWaitingEnvironmentRequest() throws {
        let machine = try InterruptedService(work: ImmediateWorkQueue())
        let replies = Replies()
        let host = HostSession(greeted: machine.session, send: replies.add)
        host.receive(Message.request(id: 7, .environment(unlike: try revision(machine))).encoded())
        host.receive(Message.cancel(id: 7).encoded())
        #expect(replies.of(7) == [.failure(Failure(.appCancel))])
        host.receive(Message.request(id: 7, .status).encoded())
        #expect(replies.of(7).count == 2, "the request ID can be used again")
        machine.answers(.simulate(.unenroll))
        #expect(replies.of(7).count == 2)
    }
}
