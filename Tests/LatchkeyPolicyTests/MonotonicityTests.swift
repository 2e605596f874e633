// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Testing

/// Removing a factor never grants an evaluation that would have been refused with it.
///
/// The same events cannot be compared with and without the factor: without an enrolled finger the prompt has a field
/// for the passcode, which it did not have before. The tests therefore compare the four kinds of `Person`: with or
/// without an enrolled finger, knowing the passcode or not. If no sequence of actions of a person leads to a grant,
/// none must lead to a grant after a factor was removed.
@Suite struct MonotonicityTests {
    struct Person: Hashable, CustomStringConvertible {
        var hasFinger: Bool
        var knowsPasscode: Bool
        var description: String { "finger \(hasFinger), passcode \(knowsPasscode)" }

        static let all = [false, true].flatMap { finger in
            [false, true].map { Person(hasFinger: finger, knowsPasscode: $0) }
        }

        /// Returns the events that this person can cause at a prompt.
        func actions(_ state: PolicyState, _ times: [Int64]) -> [PolicyEvent] {
            var actions: [PolicyEvent] = [
                .promptVisible(1), .notMatched(1), .sensorFailed(1), .fallbackChosen(1), .cancelChosen(1),
                .permissionAnswered(1, true), .permissionAnswered(1, false), .countersStored(1),
                .passcodeChecked(1, isRight: false),
            ]
            if hasFinger, let set = state.sensor.enrolment { actions.append(.matched(1, set)) }
            if knowsPasscode { actions.append(.passcodeChecked(1, isRight: true)) }
            for time in times { actions += [.passcodeEntered(1, at: time), .delayPassed(1, at: time)] }
            return actions
        }
    }

    private static func isGrant(_ effects: [PolicyEffect]) -> Bool {
        effects.outcomes(1).contains { if case .granted = $0 { true } else { false } }
    }

    /// Returns the explored nodes from which the person can reach a grant of the active evaluation.
    private func winning(_ exploration: Exploration, _ person: Person, _ times: [Int64]) throws -> Set<Int> {
        var winning: Set<Int> = []
        var leadsHere = [[Int]](repeating: [], count: exploration.nodes.count)
        for index in exploration.nodes.indices where !exploration.nodes[index].state.active.isEmpty {
            for action in person.actions(exploration.nodes[index].state, times) {
                let next = try #require(exploration.follow(action, from: index))
                if Self.isGrant(next.effects) {
                    winning.insert(index)
                } else if next.index != index {
                    leadsHere[next.index].append(index)
                }
            }
        }
        var open = Array(winning)
        while let index = open.popLast() {
            for earlier in leadsHere[index] where winning.insert(earlier).inserted { open.append(earlier) }
        }
        return winning
    }

    @Test(arguments: AuthenticationPlan.all.dropFirst(), [true, false])
    func removingAFactorNeverTurnsARefusalIntoAGrant(_ plan: AuthenticationPlan, _ fallback: Bool) throws {
        let alphabet = Alphabet.thorough(times: 2)
        let exploration = Exploration(ofOne: plan, fallback: fallback, alphabet)
        try #require(exploration.isComplete)
        let wish = PolicyEvent.evaluate(
            .init(id: 1, plan: plan, allowsFallback: fallback, interactionAllowed: true, faceUser: "a"))
        for person in Person.all {
            let winning = try winning(exploration, person, alphabet.times)
            for (index, node) in exploration.nodes.enumerated() {
                var removals: [PolicyEvent] = [.passcodeExists(false), .sensorChanged(.absent)]
                if node.state.sensor.kind == .touchID { removals.append(.sensorChanged(.touchEmpty)) }
                for removal in removals {
                    var without = try #require(exploration.follow(removal, from: index))
                    var with = (index: index, effects: [] as [PolicyEffect])
                    if node.state.active.isEmpty {
                        // Without an active evaluation, one is begun with the factor and one without it.
                        with = try #require(exploration.follow(wish, from: index))
                        without = try #require(exploration.follow(wish, from: without.index))
                    }
                    let isWorse = Self.isGrant(without.effects) || winning.contains(without.index)
                    if isWorse, !Self.isGrant(with.effects), !winning.contains(with.index) {
                        Issue.record("\(person), after \(removal) in \(node.state)")
                    }
                }
            }
            // The comparison is not vacuous: with both factors a grant is reachable, without any none is.
            if person == Person(hasFinger: true, knowsPasscode: true) { #expect(!winning.isEmpty) }
            if person == Person(hasFinger: false, knowsPasscode: false) { #expect(winning.isEmpty) }
        }
    }
}
