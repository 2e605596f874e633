// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import LatchkeyTesting
import LocalAuthentication
import Synchronization
import Testing

@testable import LatchkeySimulator

@Suite(.simulator()) struct EnvironmentTests {
    @Test func theCurrentUserIsOneSharedObject_EN01() throws {
        #expect(LAEnvironment.currentUser === LAEnvironment.currentUser)
        let other = try machine().run(as: "other") { LAEnvironment.currentUser }
        #expect(other !== LAEnvironment.currentUser, "another app has another environment")
    }

    @Test func theStateListsTheAvailableMechanisms_EN02() throws {
        let state = LAEnvironment.currentUser.state
        #expect(state.biometry?.biometryType == .touchID)
        #expect(state.biometry?.isEnrolled == true && state.biometry?.isUsable == true)
        #expect(state.biometry?.stateHash == LAContext().domainState.biometry.stateHash)
        #expect(state.userPassword?.isSet == true)
        #expect(state.companions.isEmpty)
        #expect(state.allMechanisms.count == 2)
        try machine().connect(.none)
        #expect(LAEnvironment.currentUser.state.biometry == nil)
    }

    @Test func aMechanismIsUsableWhenItsPreflightSucceeds_EN03() async throws {
        func agrees() -> Bool {
            LAEnvironment.currentUser.state.biometry?.isUsable
                == (preflight(.deviceOwnerAuthenticationWithBiometrics) == nil)
        }
        #expect(agrees())
        for _ in 1...5 { try machine().touch(matching: false) }
        _ = await evaluate(.deviceOwnerAuthenticationWithBiometrics)
        _ = await evaluate(.deviceOwnerAuthenticationWithBiometrics)
        #expect(agrees() && LAEnvironment.currentUser.state.biometry?.isLockedOut == true)
        try machine().unenroll()
        #expect(agrees())
    }

    @Test func aSnapshotDoesNotChange_EN01() throws {
        let before = LAEnvironment.currentUser.state
        try machine().unenroll()
        #expect(before.biometry?.isEnrolled == true)
        #expect(!before.isEqual(LAEnvironment.currentUser.state))
        #expect(before.copy() as AnyObject === before)
    }

    private final class Listener: NSObject, LAEnvironment.Observer, Sendable {
        let changes: AsyncStream<(Bool?, Bool?)>
        private let told: AsyncStream<(Bool?, Bool?)>.Continuation

        override init() {
            (changes, told) = AsyncStream.makeStream()
            super.init()
        }

        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {
            told.yield((oldState.biometry?.isEnrolled, environment.state.biometry?.isEnrolled))
        }
    }

    @Test func anObserverGetsTheOldStateAfterTheChange_EN04() async throws {
        let listener = Listener()
        let environment = LAEnvironment.currentUser
        environment.addObserver(listener)
        try machine().unenroll()
        var changes = listener.changes.makeAsyncIterator()
        let first = try #require(await changes.next())
        #expect(first == (true, false))
        environment.removeObserver(listener)
    }

    /// A channel whose first wait for a long request times out.
    private final class TimingOutChannel: ClientChannel {
        private let channel: any ClientChannel
        private let isPatient: Mutex<Bool>

        init(_ channel: any ClientChannel, isPatient: Bool) {
            self.channel = channel
            self.isPatient = Mutex(isPatient)
        }

        func send(_ payload: SecretBytes) throws(Failure) { try channel.send(payload) }

        func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
            let isShort = deadline < Uptime.deadline(seconds: Limits.requestSeconds)
            if !isShort, !isPatient.withLock({ $0 }) { throw Failure(.timedOut) }
            return try channel.receive(until: deadline)
        }
    }

    /// Adds an observer through the client, removes the enrolled fingers, and expects a notification.
    private func expectNotification(by client: Client, _ simulator: Simulator) async throws {
        let listener = Listener()
        let environment = ClientScope.$world.withValue(client) { LAEnvironment.currentUser }
        environment.addObserver(listener)
        try simulator.unenroll()
        var changes = listener.changes.makeAsyncIterator()
        #expect(try #require(await changes.next()) == (true, false))
        environment.removeObserver(listener)
    }

    @Test(.timeLimit(.minutes(1))) func anObserverIsNotifiedAfterAWaitTimedOut_EN04() async throws {
        let simulator = try machine()
        let connections = Mutex(0)
        let client = Client(application: "app", faceUsage: "tests") { () throws(Failure) in
            let isPatient = connections.withLock { count in
                defer { count += 1 }
                return count > 0
            }
            return TimingOutChannel(simulator.machine.connect("app"), isPatient: isPatient)
        }
        try await expectNotification(by: client, simulator)
    }

    @Test(.timeLimit(.minutes(1))) func anObserverIsNotifiedAfterTheEngineWasUnreachable_EN04() async throws {
        let simulator = try machine()
        let connections = Mutex(0)
        let client = Client(application: "app", faceUsage: "tests") { () throws(Failure) in
            let number = connections.withLock { count in
                count += 1
                return count
            }
            // The first connection reports the state and then breaks; the next two attempts fail.
            if (2...3).contains(number) { throw Failure(.notPermitted) }
            return TimingOutChannel(simulator.machine.connect("app"), isPatient: number > 3)
        }
        try await expectNotification(by: client, simulator)
        #expect(connections.withLock { $0 } > 3)
    }
}
