// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Behaviour LA-35: one prompt at a time. Programs take turns, and none of them may have many wait.

extension PolicyState {
    mutating func wait(_ request: EvaluationRequest) -> [PolicyEffect] {
        guard waiting.count(where: { $0.program == request.program }) < Limits.waitingPrompts else {
            return [.reply(request.id, .denied(.limitExceeded))]
        }
        waiting.append(request)
        return []
    }

    /// The longest waiting evaluation of the program whose turn is longest ago.
    mutating func takeWaiting() -> EvaluationRequest {
        func turn(_ index: Int) -> Int { served.firstIndex(of: waiting[index].program) ?? -1 }
        var first = 0
        for index in waiting.indices where turn(index) < turn(first) { first = index }
        return waiting.remove(at: first)
    }

    /// Notes that a program has its turn. Programs that wait for nothing are forgotten.
    mutating func noteTurn(of program: UInt64) {
        served.removeAll { served in served == program || !waiting.contains { $0.program == served } }
        served.append(program)
    }
}
