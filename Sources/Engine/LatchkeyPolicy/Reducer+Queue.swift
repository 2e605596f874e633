// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The queue of evaluations (behaviour LA-35): one prompt is shown at a time in each place, programs take turns, and
// the number of waiting evaluations of each program is limited.

extension PolicyState {
    mutating func wait(_ request: EvaluationRequest) -> [PolicyEffect] {
        guard waiting.count(where: { $0.program == request.program }) < Limits.waitingPrompts else {
            return [.reply(request.id, .failure(.limitExceeded))]
        }
        waiting.append(request)
        return []
    }

    /// Whether two prompts may not be shown at the same time: their places overlap, or one of them leads to a new passcode or
    /// a new recovery code. What another prompt has proven with the earlier passcode must not permit a second change.
    private func conflict(_ one: EvaluationRequest, _ other: EvaluationRequest) -> Bool {
        one.lastStep.changesSecret || other.lastStep.changesSecret || one.place.overlaps(other.place, biometrySessions)
    }

    /// Whether the prompt of a request can be shown now, and no evaluation waits that must be shown before.
    func isFree(_ request: EvaluationRequest) -> Bool {
        canShow(request) && !waiting.contains { conflict($0, request) }
    }

    private func canShow(_ request: EvaluationRequest) -> Bool {
        active.count < Limits.shownPrompts && !active.contains { conflict($0.request, request) }
    }

    /// Removes and returns the evaluation whose turn it is; nil if none can be shown now. One that cannot be shown keeps its
    /// turn: no other one is shown that would make it wait longer.
    mutating func takeWaiting() -> EvaluationRequest? {
        guard active.count < Limits.shownPrompts else { return nil }
        var earlier: [EvaluationRequest] = []
        while let index = nextTurn(after: earlier) {
            if canShow(waiting[index]) { return waiting.remove(at: index) }
            earlier.append(waiting[index])
        }
        return nil
    }

    /// The index of the oldest evaluation of the program that was served least recently, among those that have no conflict
    /// with `earlier` ones.
    private func nextTurn(after earlier: [EvaluationRequest]) -> Int? {
        func turn(_ index: Int) -> Int { served.firstIndex(of: waiting[index].program) ?? -1 }
        var first: Int?
        for index in waiting.indices where !earlier.contains(where: { conflict($0, waiting[index]) }) {
            guard let found = first else {
                first = index
                continue
            }
            // Programs that were not served yet are first.
            if turn(found) < 0 { break }
            if turn(index) < turn(found) { first = index }
        }
        return first
    }

    /// Marks a program as served most recently, and removes programs without evaluations from `served`.
    mutating func recordTurn(of program: UInt64) {
        served.removeAll { served in
            served == program
                || !waiting.contains { $0.program == served } && !active.contains { $0.request.program == served }
        }
        served.append(program)
    }
}

extension LastStep {
    /// Whether the user leaves the step with another passcode or recovery code than before.
    fileprivate var changesSecret: Bool {
        switch self {
        case .none, .asksRecoveryCode, .asksAnswer, .asksOnce: false
        case .showsRecoveryCode, .asksNewPasscode, .repeatsRecoveryCode: true
        }
    }
}
