// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The queue of evaluations (behaviour LA-35): one prompt is shown at a time, programs take turns, and the number of
// waiting evaluations of each program is limited.

extension PolicyState {
    mutating func wait(_ request: EvaluationRequest) -> [PolicyEffect] {
        guard waiting.count(where: { $0.program == request.program }) < Limits.waitingPrompts else {
            return [.reply(request.id, .denied(.limitExceeded))]
        }
        waiting.append(request)
        return []
    }

    /// Removes and returns the oldest evaluation of the program that was served least recently.
    mutating func takeWaiting() -> EvaluationRequest {
        func turn(_ index: Int) -> Int { served.firstIndex(of: waiting[index].program) ?? -1 }
        var first = 0
        for index in waiting.indices where turn(index) < turn(first) { first = index }
        return waiting.remove(at: first)
    }

    /// Marks a program as served most recently, and removes programs without waiting evaluations from `served`.
    mutating func noteTurn(of program: UInt64) {
        served.removeAll { served in served == program || !waiting.contains { $0.program == served } }
        served.append(program)
    }
}
