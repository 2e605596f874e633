// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import Testing

/// The contents of an authorisation, and how authorisations are combined and narrowed.
@Suite struct AuthorisationTests {
    private static let one = Caller(groups: ["one"], label: "one", processID: 1, userID: 1, session: 1)
    private static let two = Caller(groups: ["two"], label: "two", processID: 2, userID: 1, session: 2)

    private func request(_ id: UInt64, _ plan: AuthenticationPlan, _ caller: Caller) -> EvaluationRequest {
        EvaluationRequest(id: id, plan: plan, allowsFallback: false, interactionAllowed: true, caller: caller)
    }

    private func finger(_ id: UInt64, _ caller: Caller, at time: Int64 = 5) throws -> Authorisation {
        var world = World()
        world.send(.evaluate(request(id, .biometry, caller)))
        world.send(.promptVisible(id))
        return try #require(world.send(.matched(id, .a), at: time).authorisation(id))
    }

    private func code(_ id: UInt64, _ caller: Caller) throws -> Authorisation {
        var world = World()
        world.send([.evaluate(request(id, .passcode, caller)), .promptVisible(id)])
        return try #require(
            world.type(right: true, id: id).authorisation(id))
    }

    @Test(.promise("decision.value")) func proofNamesEvaluationCallerEnrolmentSetAndTime() throws {
        let proof = try #require(try finger(7, Self.one).proofs.first)
        #expect(proof.evaluation == 7 && proof.caller == Self.one && proof.time == 5)
        #expect(proof.method == .biometry && proof.enrolment == .a)
    }

    @Test func authorisationBelongsOnlyToItsCaller() throws {
        let proof = try finger(1, Self.one)
        #expect(proof.belongs(to: Self.one) && !proof.belongs(to: Self.two))
        let mixed = proof.union(try code(2, Self.two))
        #expect(!mixed.belongs(to: Self.one) && !mixed.belongs(to: Self.two))
        var sameProgram = Self.one
        sameProgram.session = 9
        #expect(!proof.belongs(to: sameProgram), "another session of the same program")
    }

    @Test func unionKeepsTheEvaluationOfEachProof() throws {
        let union = try finger(1, Self.one).union(try code(2, Self.one))
        #expect(union.proofs.map(\.evaluation) == [1, 2])
        #expect(!union.isOnePasscodeEvaluation)
        #expect(try union.union(finger(3, Self.one, at: 9)).proofs.map(\.evaluation) == [2, 3])
        #expect(try code(2, Self.one).isOnePasscodeEvaluation)
        #expect(try !finger(1, Self.one).isOnePasscodeEvaluation)
    }

    @Test func aVirtualMatchStaysVirtualNextToARealOne_abuse24() throws {
        var world = World()
        world.send([.evaluate(request(1, .biometry, Self.one)), .promptVisible(1)])
        let virtual = try #require(world.send(.matched(1, .a, isVirtual: true)).authorisation(1))
        let real = try finger(2, Self.one)
        #expect(virtual.isVirtual && !real.isVirtual)
        #expect(virtual.union(real).isVirtual && real.union(virtual).isVirtual)
    }

    @Test func matchOfAnotherEnrolmentSetIsDropped_abuse32() throws {
        let both = try finger(1, Self.one).union(try code(2, Self.one))
        #expect(both.holding(for: .a) == both)
        #expect(both.holding(for: .b).methods == [.passcode])
        #expect(both.holding(for: nil).methods == [.passcode])
    }
}
