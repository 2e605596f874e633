// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Testing

@Suite(.simulator()) struct DomainStateTests {
    @Test func evaluatedPolicyDomainStateIsNilUntilABiometricSuccess_DS01_DS06() async throws {
        let context = LAContext()
        #expect(oldState(of: context) == nil)
        #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        #expect(oldState(of: context) == nil, "a policy that accepts the passcode does not report the enrolled set")
        #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
        #expect(oldState(of: context) == context.domainState.biometry.stateHash)
        #expect(oldState(of: context)?.count == 32)
    }

    @Test func aFingerSetsEvaluatedPolicyDomainStateAndAPasscodeDoesNot_DS01() async throws {
        let byFinger = LAContext()
        try machine().touch(matching: true)
        #expect(try await byFinger.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why"))
        #expect(oldState(of: byFinger) != nil)
        #expect(oldState(of: byFinger) == byFinger.domainState.biometry.stateHash)
        let byPasscode = LAContext()
        try machine().touch(matching: false)
        try machine().chooseFallback()
        try machine().enter(passcode: "1234")
        #expect(try await byPasscode.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why"))
        #expect(oldState(of: byPasscode) == nil)
    }

    @Test func everyEnrolmentChangeGivesANewHash_DS02() throws {
        var seen: Set<Data> = []
        let changes: [() throws -> Void] = [
            {}, { try machine().enroll() }, { try machine().replaceFinger() },
            {
                try machine().unenroll()
                try machine().enroll()
            },
        ]
        for change in changes {
            try change()
            #expect(seen.insert(try #require(LAContext().domainState.biometry.stateHash)).inserted)
        }
    }

    @Test func hashesDifferBetweenApps_DS03() throws {
        let mine = LAContext().domainState.biometry.stateHash
        let others = try machine().run(as: "other") { LAContext().domainState.biometry.stateHash }
        #expect(mine != nil && others != nil && mine != others)
    }

    @Test func theHashIsNilWithoutEnrolmentAndDuringLockout_DS04() async throws {
        for _ in 1...5 { try machine().touch(matching: false) }
        _ = await evaluate(.deviceOwnerAuthenticationWithBiometrics)
        _ = await evaluate(.deviceOwnerAuthenticationWithBiometrics)
        #expect(preflight(.deviceOwnerAuthenticationWithBiometrics) == .biometryLockout)
        #expect(LAContext().domainState.biometry.stateHash == nil)
        try machine().unenroll()
        #expect(LAContext().domainState.biometry.stateHash == nil)
        #expect(LAContext().domainState.biometry.biometryType == .touchID)
    }

    @Test func noDeviceIsPaired_DS05() throws {
        let before = LAContext().domainState
        #expect(before.companion.stateHash == nil)
        #expect(before.companion.availableCompanionTypes.isEmpty)
        #expect(before.stateHash == before.biometry.stateHash)
        #expect(before.companion.stateHash(for: .watch) == nil)
    }
}

/// Reads a deprecated property without the compiler warning, which is an error in this project.
private protocol HasOldState {
    var evaluatedPolicyDomainState: Data? { get }
}

extension LAContext: HasOldState {}

private func oldState(of context: any HasOldState) -> Data? { context.evaluatedPolicyDomainState }
