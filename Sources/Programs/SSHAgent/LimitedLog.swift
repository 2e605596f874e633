// SPDX-License-Identifier: Apache-2.0

import LatchkeyWords
import Synchronization

/// Passes lines on, at most `lines` in `seconds`, and then their number: a program that sends garbage fills no journal.
final class LimitedLog: Sendable {
    private struct State: Sendable {
        var end: Int64 = 0
        var written = 0
        var dropped = 0
    }

    static let lines = 30
    static let seconds: Int64 = 60
    private let state = Mutex(State())
    private let words: Words
    private let now: @Sendable () -> Int64
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - words: the language of the line with the number.
    ///   - now: a monotonic clock, in nanoseconds.
    init(words: Words, now: @escaping @Sendable () -> Int64, write: @escaping @Sendable (String) -> Void) {
        (self.words, self.now, self.write) = (words, now, write)
    }

    func add(_ line: String) {
        let now = now()
        let (dropped, isWritten) = state.withLock { state in
            var dropped = 0
            if now >= state.end {
                dropped = state.dropped
                state = State(end: now + Self.seconds * 1_000_000_000)
            }
            guard state.written < Self.lines else {
                state.dropped += 1
                return (dropped, false)
            }
            state.written += 1
            return (dropped, true)
        }
        if dropped > 0 { write(words("\(dropped) lines were left out")) }
        if isWritten { write(line) }
    }
}
