// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Enumerates every sequence of events up to a depth; `Observer` checks each transition.
@Suite struct ExhaustiveTests {
    private func report(_ name: String, _ exploration: Exploration) {
        print(
            "policy, \(name): \(exploration.isComplete ? "complete at depth" : "depth") \(exploration.depth), "
                + "\(exploration.nodes.count) states, \(exploration.transitions) transitions")
    }

    /// To depth 5; to depth 8 with `LATCHKEY_TESTS=all`; completely with `LATCHKEY_TESTS=end`, which takes hours and
    /// more than 4 GB in a debug build.
    @Test func twoEvaluationsSatisfyAllInvariants() {
        let alphabet = Alphabet(times: 2)
        let everything = alphabet.reports(1) + alphabet.reports(2) + alphabet.surroundings
        let wishes = [UInt64(1), 2].map { alphabet.wishes($0) }
        let roots = [
            World(.touch), World(.touch, biometryFailures: 4), World(.face), World(.touch, biometryFailures: 5),
            World(.face, permission: nil),
        ]
        let depth =
            switch ProcessInfo.processInfo.environment["LATCHKEY_TESTS"] {
            case "end": Int.max
            case "all": 8
            default: 5
            }
        let exploration = Exploration(roots: roots.map(\.state), maximumDepth: depth) { state in
            let busy = alphabet.busy(state)
            return everything + (busy.contains(1) ? [] : wishes[0]) + (busy.contains(2) ? [] : wishes[1])
        }
        report("two evaluations", exploration)
        #expect(exploration.complaint == nil)
        #expect(exploration.isComplete || exploration.depth == depth)
    }

    /// Enumerates consecutive evaluations, one at a time, until there is no new state.
    @Test(arguments: AuthenticationPlan.all, LastStep.allCases)
    func oneEvaluationWithALastStepSatisfiesAllInvariants(_ plan: AuthenticationPlan, _ lastStep: LastStep) {
        let exploration = Exploration(ofOne: plan, fallback: true, lastStep: lastStep, .thorough(times: 2))
        report("\(plan.stages.map { $0.map { "\($0)" }.sorted() }) and \(lastStep)", exploration)
        #expect(exploration.complaint == nil)
        #expect(exploration.isComplete)
    }

    /// Guidance is not part of the alphabet of the other enumerations, whose states it would multiply.
    @Test(arguments: [AuthenticationPlan.biometry, .either, .passcodeThenBiometry])
    func oneEvaluationWithGuidanceSatisfiesAllInvariants(_ plan: AuthenticationPlan) {
        let exploration = Exploration(
            ofOne: plan, fallback: true, Alphabet(times: 1), also: [.guided(1, .swipeTooShort)])
        report("\(plan.stages.map { $0.map { "\($0)" }.sorted() }) with guidance", exploration)
        #expect(exploration.complaint == nil)
        #expect(exploration.isComplete)
    }

    /// The account is not part of the alphabet of the other enumerations either.
    @Test(arguments: [AuthenticationPlan.nothing, .passcode], [true, false])
    func oneEvaluationWithTheAccountSatisfiesAllInvariants(_ plan: AuthenticationPlan, _ startsWithAccount: Bool) {
        let alphabet = Alphabet(times: 1)
        let exploration = Exploration(
            ofOne: plan, fallback: true, lastStep: plan.stages.isEmpty && !startsWithAccount ? .asksNewPasscode : .none,
            startsWithAccount: startsWithAccount, alphabet, also: alphabet.accountReports(1))
        report("\(plan.stages.map { $0.map { "\($0)" }.sorted() }) with the account", exploration)
        #expect(exploration.complaint == nil)
        #expect(exploration.isComplete)
    }

    /// Nor is a weak sensor.
    @Test(arguments: [(AuthenticationPlan.biometry, true), (.biometry, false), (.either, true)])
    func oneEvaluationWithAWeakSensorSatisfiesAllInvariants(_ plan: AuthenticationPlan, _ acceptsWeak: Bool) {
        let exploration = Exploration(
            ofOne: plan, fallback: true, acceptsWeak: acceptsWeak, from: World(.weakFace, permission: nil),
            Alphabet(times: 1), also: [.sensorChanged(.weakFace)])
        report("\(plan.stages.map { $0.map { "\($0)" }.sorted() }) with a weak sensor", exploration)
        #expect(exploration.complaint == nil)
        #expect(exploration.isComplete)
    }

    @Test(arguments: AuthenticationPlan.all.dropFirst(), [true, false])
    func oneEvaluationSatisfiesAllInvariants(_ plan: AuthenticationPlan, _ fallback: Bool) {
        let exploration = Exploration(ofOne: plan, fallback: fallback, .thorough(times: 3))
        report("\(plan.stages.map { $0.map { "\($0)" }.sorted() })\(fallback ? " with fallback" : "")", exploration)
        #expect(exploration.complaint == nil)
        #expect(exploration.isComplete)
    }
}

extension Exploration {
    /// Explores all states that consecutive evaluations, one at a time, can reach.
    init(
        ofOne plan: AuthenticationPlan, fallback: Bool, lastStep: LastStep = .none, startsWithAccount: Bool = false,
        acceptsWeak: Bool = false, from root: World = World(.touch), _ alphabet: Alphabet,
        also others: [PolicyEvent] = []
    ) {
        let wish = PolicyEvent.evaluate(
            .init(
                id: 1, plan: plan, allowsFallback: fallback, interactionAllowed: true, faceUser: "a",
                acceptsWeak: acceptsWeak, lastStep: lastStep, startsWithAccount: startsWithAccount)
        )
        let idle = alphabet.surroundings + [wish]
        let busy = alphabet.surroundings + alphabet.reports(1) + others
        self.init(roots: [root.state], maximumDepth: 100) { $0.active == nil ? idle : busy }
    }
}
