// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The queue of evaluations (behaviour LA-35): one prompt is shown at a time in each place, programs take turns, and
// the number of waiting evaluations of each program is limited.

extension PolicyState {
    mutating func wait(_ request: EvaluationRequest) -> [PolicyEffect] {
        guard waiting.count(where: { $0.program == request.program }) < Limits.waitingPrompts else {
            return [.reply(request.id, .denied(.limitExceeded))]
        }
        waiting.append(request)
        return []
    }

    /// Whether a prompt can be shown in the place of a request now.
    func isFree(_ request: EvaluationRequest) -> Bool {
        active.count < Limits.shownPrompts
            && !active.contains { $0.request.place.overlaps(request.place, biometrySessions) }
    }

    /// Removes and returns, among the evaluations whose place is free, the oldest one of the program that was served
    /// least recently; nil if there is none.
    mutating func takeWaiting() -> EvaluationRequest? {
        func turn(_ index: Int) -> Int { served.firstIndex(of: waiting[index].program) ?? -1 }
        var first: Int?
        for index in waiting.indices where isFree(waiting[index]) {
            guard let found = first else {
                first = index
                continue
            }
            // Programs that were not served yet are first.
            if turn(found) < 0 { break }
            if turn(index) < turn(found) { first = index }
        }
        return first.map { waiting.remove(at: $0) }
    }

    /// Marks a program as served most recently, and removes programs without evaluations from `served`.
    mutating func noteTurn(of program: UInt64) {
        served.removeAll { served in
            served == program
                || !waiting.contains { $0.program == served } && !active.contains { $0.request.program == served }
        }
        served.append(program)
    }
}
