// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import Testing

@testable import LatchkeyService

/// Withdrawing an app's permission to use the camera for Face ID is durable before it is confirmed (behaviour LA-07).
@Suite struct WithdrawnFacePermissionTests {
    private let machine: SimulatedService

    init() throws {
        machine = try SimulatedService(scriptsStore: true)
        try machine.keychain.persist(facePermissions: ["app": true])
        machine.service.setFacePermission("app", true)
    }

    private func withdraw(mayAskAgain: Bool = false) -> [Reply] {
        let change = Request.FacePermissionChange(application: "app", mayAskAgain: mayAskAgain)
        return InterruptedService.answers(machine.session(), .changeFacePermission(change))()
    }

    private func changeStateRecord() throws {
        try machine.store.write { (store) throws(Failure) in
            guard var record = try store.record("state") else { throw Failure(.internalFailure) }
            record[record.count - 1] ^= 1
            try store.setRecord("state", record)
        }
    }

    @Test func withdrawnPermissionIsStored_LA07() throws {
        #expect(withdraw() == [.done])
        #expect(try machine.keychain.storedFacePermissions() == ["app": false])
        #expect(machine.service.authority.state.facePermissions == ["app": false])
    }

    @Test func deletedPermissionIsStored_LA07() throws {
        #expect(withdraw(mayAskAgain: true) == [.done])
        #expect(try machine.keychain.storedFacePermissions() == [:])
        #expect(machine.service.authority.state.facePermissions == [:])
    }

    @Test func withdrawalThatCannotBeStoredIsRefused_LA07() throws {
        _ = try machine.world.apply(.fail(.diskFull))
        guard case .failure(let failure)? = withdraw().first else {
            Issue.record("a withdrawal that was not stored was confirmed")
            return
        }
        #expect(failure.status == .diskFull)
        #expect(machine.service.authority.state.facePermissions == ["app": true])
        #expect(withdraw() == [.done])
    }

    @Test func unreadableStateRecordIsReplaced_LA07() throws {
        // A failed transaction makes the keychain read the record again.
        _ = try machine.world.apply(.fail(.diskFull))
        #expect(withdraw() != [.done])
        try changeStateRecord()
        #expect(throws: Failure.self) { try machine.keychain.storedFacePermissions() }
        #expect(withdraw() == [.done])
        #expect(try machine.keychain.storedFacePermissions() == ["app": false])
    }
}
