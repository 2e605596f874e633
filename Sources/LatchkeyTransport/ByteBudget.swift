// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// Counts the bytes that all connections of a daemon make it keep: frames that arrive, requests without an answer so
/// far, answers that their client has not taken.
///
/// When a program holds its share, or all of them hold the whole, nothing more is read from it until some of that is
/// done with. It cannot end in a deadlock: what was begun never needs more than it has, a frame that arrives has a
/// deadline, and requests are answered without anything more being read.
package final class ByteBudget: Sendable {
    package struct Bounds: Sendable {
        package var total = Limits.heldBytes
        package var program = Limits.heldBytesOfProgram
        package var always = Limits.heldBytesAlways
        package var reserved = Limits.reservedBytes

        package init() {}
    }

    private struct State: Sendable {
        var total = 0
        var of: [ExecutableFile?: Int] = [:]
        /// Whether a connection is not read because of what is held.
        var isWaitedFor = false

        mutating func add(_ count: Int, _ program: ExecutableFile?) {
            total += count
            let held = of[program, default: 0] + count
            of[program] = held == 0 ? nil : held
        }

        mutating func takeWaiting() -> Bool {
            defer { isWaitedFor = false }
            return isWaitedFor
        }
    }

    private let bounds: Bounds
    private let state = Mutex(State())
    /// Called, from any thread, when something is given back while a connection waits for it.
    private let released: @Sendable () -> Void

    package init(_ bounds: Bounds, released: @escaping @Sendable () -> Void) {
        self.bounds = bounds
        self.released = released
    }

    /// Bytes that are held now.
    package var total: Int { state.withLock { $0.total } }

    /// Bytes that a program holds now.
    package func held(by program: ExecutableFile?) -> Int { state.withLock { $0.of[program, default: 0] } }

    /// Whether small frames of a program may be read; if not, `released` is called when it is worth asking again.
    package func mayRead(_ program: ExecutableFile?) -> Bool {
        state.withLock { state in
            let held = state.of[program, default: 0]
            let may = held < bounds.program && (state.total < bounds.total || held < bounds.always)
            if !may { state.isWaitedFor = true }
            return may
        }
    }

    /// Takes room for a large frame before it arrives; nil, and `released` is called later, when there is none now.
    package func reserve(_ count: Int, for program: ExecutableFile?) -> HeldBytes? {
        let isGranted = state.withLock { state in
            let held = state.of[program, default: 0]
            let limit = held <= bounds.always ? bounds.total : bounds.total - bounds.reserved
            guard held + count <= bounds.program, state.total + count <= limit else {
                state.isWaitedFor = true
                return false
            }
            state.add(count, program)
            return true
        }
        return isGranted ? HeldBytes(self, program, count) : nil
    }

    /// Counts a small frame that has arrived.
    package func hold(_ count: Int, for program: ExecutableFile?) -> HeldBytes {
        state.withLock { $0.add(count, program) }
        return HeldBytes(self, program, count)
    }

    /// Counts answers that wait, or fewer of them.
    ///
    /// - Returns: false when a program that does not take its answers holds twice its share, or more than it may hold
    ///   whatever the others hold while all together hold twice the whole.
    func change(by count: Int, for program: ExecutableFile?) -> Bool {
        let (isWithin, tell) = state.withLock { state in
            state.add(count, program)
            let held = state.of[program, default: 0]
            let isWithin = held <= 2 * bounds.program && (state.total <= 2 * bounds.total || held <= bounds.always)
            return (isWithin, count < 0 && state.takeWaiting())
        }
        if tell { released() }
        return isWithin
    }

    fileprivate func release(_ count: Int, for program: ExecutableFile?) {
        let tell = state.withLock { state in
            state.add(-count, program)
            return state.takeWaiting()
        }
        if tell { released() }
    }
}

/// Bytes that a frame holds from its arrival until its request is answered; given back with the last reference.
package final class HeldBytes: Sendable {
    private let budget: ByteBudget
    private let program: ExecutableFile?
    private let count: Int

    fileprivate init(_ budget: ByteBudget, _ program: ExecutableFile?, _ count: Int) {
        self.budget = budget
        self.program = program
        self.count = count
    }

    deinit { budget.release(count, for: program) }
}
