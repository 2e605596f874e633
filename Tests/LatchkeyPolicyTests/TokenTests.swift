// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// A token is accepted only for the request that it answers; each rule is broken alone.
@Suite struct TokenTests {
    private static let bootID: [UInt8] = [1, 2, 3]
    private static let code = [UInt8](repeating: 9, count: 32)
    private static let caller = Caller(groups: ["app"], label: "app", processID: 7, userID: 1000)

    private static let token: AuthToken = {
        var token = AuthToken(
            connection: [UInt8](repeating: 1, count: 16), challenge: [UInt8](repeating: 2, count: 32), userID: 1000,
            passcodeID: [], purpose: .app, binding: [UInt8](repeating: 3, count: 32), methods: [.biometry, .passcode],
            strength: .strong, isVirtual: false, enrolment: EnrolmentSet([4]), bootID: bootID, issued: 100,
            expires: 200)
        token.code = code
        return token
    }()

    private static let expectation = TokenExpectation(
        connection: token.connection, challenge: token.challenge, userID: 1000, purpose: .app, binding: token.binding,
        plan: AuthenticationPlan([[.biometry, .passcode]]), caller: caller, evaluation: 5, acceptsVirtual: false)

    private func flaw(
        _ token: AuthToken, _ expectation: TokenExpectation = TokenTests.expectation, code: [UInt8] = TokenTests.code,
        now: Int64 = 150, bootID: [UInt8] = TokenTests.bootID
    ) -> TokenFlaw? {
        do throws(TokenFlaw) {
            _ = try Authorisation(token, answering: expectation, code: code, now: now, bootID: bootID)
            return nil
        } catch {
            return error
        }
    }

    @Test func aTokenGivesAProofForEachOfItsMethods() throws {
        let proof = try Authorisation(
            Self.token, answering: Self.expectation, code: Self.code, now: 150, bootID: Self.bootID)
        #expect(proof.methods == [.biometry, .passcode] && proof.enrolment == EnrolmentSet([4]))
        #expect(proof.belongs(to: Self.caller) && proof.isOnePasscodeEvaluation)
        #expect(proof.proofs.allSatisfy { $0.evaluation == 5 && $0.time == 100 })
    }

    /// A changed token and the first rule that it breaks.
    struct Change: Sendable, CustomTestStringConvertible {
        let flaw: TokenFlaw
        let make: @Sendable (inout AuthToken) -> Void
        var testDescription: String { flaw.rawValue }
    }

    static let changes = [
        Change(flaw: .malformed) { $0.version = 2 },
        Change(flaw: .malformed) { $0.challenge.removeLast() },
        Change(flaw: .malformed) { $0.binding.append(0) },
        Change(flaw: .malformed) { $0.passcodeID = [1] },
        Change(flaw: .malformed) { $0.enrolment = EnrolmentSet([]) },
        Change(flaw: .malformed) { $0.bootID = [UInt8](repeating: 0, count: 65) },
        Change(flaw: .malformed) { $0.code = [] },
        Change(flaw: .wrongCode) { $0.code[31] ^= 1 },
        Change(flaw: .otherConnection) { $0.connection[0] ^= 1 },
        Change(flaw: .otherChallenge) { $0.challenge[31] ^= 1 },
        Change(flaw: .otherUser) { $0.userID = 1001 },
        Change(flaw: .otherPurpose) { $0.purpose = .unlock },
        Change(flaw: .otherBinding) { $0.binding[0] ^= 1 },
        Change(flaw: .otherBoot) { $0.bootID = [1, 2, 4] },
        Change(flaw: .notYetValid) { $0.issued = 151 },
        Change(flaw: .expired) { $0.expires = 149 },
        Change(flaw: .planNotCompleted) { $0.methods = [] },
        Change(flaw: .weak) { $0.strength = .weak },
        Change(flaw: .weak) { $0.strength = .none },
        Change(flaw: .livesTooLong) { $0.expires = 30_000_000_101 },
        Change(flaw: .biometryWithoutSet) { $0.enrolment = nil },
        Change(flaw: .virtualHardware) { $0.isVirtual = true },
    ]

    @Test(.promise("virtual.token"), arguments: changes) func aTokenThatBreaksOneRuleIsRefused_abuse13(_ change: Change)
    {
        var token = Self.token
        change.make(&token)
        #expect(flaw(token) == change.flaw)
    }

    @Test func aTokenIsAcceptedUntilItsLastMoment() {
        #expect(flaw(Self.token, now: 200) == nil && flaw(Self.token, now: 201) == .expired)
        #expect(flaw(Self.token, now: 100) == nil && flaw(Self.token, now: 99) == .notYetValid)
    }

    @Test func aMachineWithoutABootIdentifierAcceptsNoToken() {
        var token = Self.token
        token.bootID = []
        #expect(flaw(token, bootID: []) == .otherBoot)
    }

    @Test(.promise("virtual.token")) func virtualHardwareIsAcceptedWhereItIsAllowed_abuse24() {
        var token = Self.token
        token.isVirtual = true
        var expectation = Self.expectation
        expectation.acceptsVirtual = true
        #expect(flaw(token, expectation) == nil)
    }

    @Test func aWeakTokenAnswersAPolicyAndGivesAWeakProofOfBiometryOnly() throws {
        var token = Self.token
        token.strength = .weak
        var expectation = Self.expectation
        expectation.acceptsWeak = true
        let proof = try Authorisation(
            token, answering: expectation, code: Self.code, now: 150, bootID: Self.bootID)
        #expect(proof.isWeak && proof.satisfies(.biometry, acceptsWeak: true))
        #expect(!proof.satisfies(.biometry) && proof.satisfies(.passcode) && proof.satisfies(.either))
        token.methods = [.passcode]
        token.enrolment = nil
        #expect(flaw(token, expectation) == .weak, "a passcode is never weak")
    }

    @Test func everyFieldChangesTheAuthenticatedBytes() {
        let changes: [(inout AuthToken) -> Void] = [
            { $0.version = 2 }, { $0.connection[0] ^= 1 }, { $0.challenge[0] ^= 1 }, { $0.userID += 1 },
            { $0.passcodeID = [UInt8](repeating: 0, count: 16) }, { $0.purpose = .unlock }, { $0.binding[0] ^= 1 },
            { $0.methods = [.biometry] }, { $0.strength = .weak }, { $0.isVirtual = true },
            { $0.enrolment = EnrolmentSet([5]) }, { $0.enrolment = nil }, { $0.bootID.append(0) },
            { $0.issued += 1 }, { $0.expires += 1 },
        ]
        var seen: Set<[UInt8]> = [Self.token.authenticated]
        for change in changes {
            var token = Self.token
            change(&token)
            #expect(seen.insert(token.authenticated).inserted)
        }
    }
}
