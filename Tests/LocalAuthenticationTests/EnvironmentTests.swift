// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Synchronization
import Testing

@Suite(.simulator()) struct EnvironmentTests {
    @Test func theCurrentUserIsOneSharedObject_EN01() throws {
        #expect(LAEnvironment.currentUser === LAEnvironment.currentUser)
        let other = try machine().run(as: "other") { LAEnvironment.currentUser }
        #expect(other !== LAEnvironment.currentUser, "another app has another view")
    }

    @Test func theStateListsWhatThereIs_EN02() throws {
        let state = LAEnvironment.currentUser.state
        #expect(state.biometry?.biometryType == .touchID)
        #expect(state.biometry?.isEnrolled == true && state.biometry?.isUsable == true)
        #expect(state.biometry?.stateHash == LAContext().domainState.biometry.stateHash)
        #expect(state.userPassword?.isSet == true)
        #expect(state.companions.isEmpty)
        try machine().pair(.mac)
        try machine().setNearby(.mac, false)
        let paired = LAEnvironment.currentUser.state
        #expect(paired.companions.map(\.type) == [.mac], "listed although it cannot be reached")
        #expect(paired.companions.first?.isUsable == false)
        #expect(paired.allMechanisms.count == 3)
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
        try machine().unenrol()
        #expect(agrees())
    }

    @Test func aSnapshotDoesNotChange_EN01() throws {
        let before = LAEnvironment.currentUser.state
        try machine().unenrol()
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

    @Test func anObserverIsToldWithTheOldStateWhenTheNewOneHolds_EN04() async throws {
        let listener = Listener()
        let environment = LAEnvironment.currentUser
        environment.addObserver(listener)
        try machine().unenrol()
        var changes = listener.changes.makeAsyncIterator()
        let first = try #require(await changes.next())
        #expect(first == (true, false))
        environment.removeObserver(listener)
    }
}
