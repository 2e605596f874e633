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

    /// Two prompts of different sessions at the same time. Each plan is one of three, and each event one of those that
    /// change what the evaluations share: the tries, the verification and the sensor. The sensor is absent or has one
    /// finger, and time stands still, so that a delay does not end. Complete where both plans accept one method only;
    /// otherwise to depth 6, and completely with `LATCHKEY_TESTS=all`.
    @Test(arguments: SharedCase.all)
    func evaluationsOfTwoSessionsSatisfyAllInvariants(_ shared: SharedCase) {
        let alphabet = Alphabet(times: 1)
        let everything = alphabet.sharedReports(1) + alphabet.sharedReports(2) + alphabet.sharedSurroundings
        let wishes = [
            PolicyEvent.wish(1, shared.first, session: "1"), .wish(2, shared.second, session: "2"),
        ]
        let roots = [0, 4].map { World(.touch, biometryFailures: $0).state }
        let isComplete =
            shared.isComplete
            || ["all", "end"].contains(ProcessInfo.processInfo.environment["LATCHKEY_TESTS"])
        let exploration = Exploration(roots: roots, maximumDepth: isComplete ? 100 : 6) { state in
            let busy = alphabet.busy(state)
            return everything + (busy.contains(1) ? [] : [wishes[0]]) + (busy.contains(2) ? [] : [wishes[1]])
        }
        report("\(shared) in two sessions", exploration)
        #expect(exploration.complaint == nil)
        #expect(exploration.isComplete == isComplete)
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

/// The plans of two evaluations in different sessions.
struct SharedCase: CustomStringConvertible, Sendable {
    var first, second: AuthenticationPlan
    /// Whether the enumeration is complete by default.
    var isComplete: Bool { ![first, second].contains(.either) }
    var description: String { "\(Self.name(first)) and \(Self.name(second))" }

    private static func name(_ plan: AuthenticationPlan) -> String {
        plan == .biometry ? "biometry" : plan == .passcode ? "passcode" : "either"
    }

    static let all: [SharedCase] = [
        SharedCase(first: .passcode, second: .passcode), SharedCase(first: .biometry, second: .biometry),
        SharedCase(first: .either, second: .either), SharedCase(first: .either, second: .passcode),
        SharedCase(first: .biometry, second: .either), SharedCase(first: .biometry, second: .passcode),
    ]
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
        self.init(roots: [root.state], maximumDepth: 100) { $0.active.isEmpty ? idle : busy }
    }
}
