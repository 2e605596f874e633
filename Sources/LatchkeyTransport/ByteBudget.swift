// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// Limits the memory that all connections of a daemon occupy: incoming frames, unanswered requests, and answers that
/// their client has not read.
///
/// When a program reaches its share, or all programs together reach the total, the server stops reading from it until
/// memory is released. This cannot deadlock: memory is reserved only for a frame that is being read, which has a
/// deadline, and a request is answered without reading further input.
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
        var of: [ClientProgram: Int] = [:]
        /// Whether the server has stopped reading a connection because of this budget.
        var isWaitedFor = false

        mutating func add(_ count: Int, _ program: ClientProgram) {
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
    /// Called, from any thread, when memory is released while a connection waits for it.
    private let released: @Sendable () -> Void

    package init(_ bounds: Bounds, released: @escaping @Sendable () -> Void) {
        self.bounds = bounds
        self.released = released
    }

    /// Bytes held by all programs now.
    package var total: Int { state.withLock { $0.total } }

    /// Bytes held by one program now.
    package func held(by program: ClientProgram) -> Int { state.withLock { $0.of[program, default: 0] } }

    /// Whether small frames of a program may be read; if not, `released` is called when it is worth trying again.
    package func mayRead(_ program: ClientProgram) -> Bool {
        state.withLock { state in
            let held = state.of[program, default: 0]
            let may = held < bounds.program && (state.total < bounds.total || held < bounds.always)
            if !may { state.isWaitedFor = true }
            return may
        }
    }

    /// Reserves memory for a large frame before it is read; returns nil when there is none now, and `released` is
    /// called later.
    package func reserve(_ count: Int, for program: ClientProgram) -> HeldBytes? {
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
    package func hold(_ count: Int, for program: ClientProgram) -> HeldBytes {
        state.withLock { $0.add(count, program) }
        return HeldBytes(self, program, count)
    }

    /// Adjusts the count for queued answers by `count` bytes, which may be negative.
    ///
    /// - Returns: false when the program must be disconnected because it does not read its answers: it holds more than
    ///   twice its share, or more than `always` while all programs together hold more than twice the total.
    func change(by count: Int, for program: ClientProgram) -> Bool {
        let (isWithin, tell) = state.withLock { state in
            state.add(count, program)
            let held = state.of[program, default: 0]
            let isWithin = held <= 2 * bounds.program && (state.total <= 2 * bounds.total || held <= bounds.always)
            return (isWithin, count < 0 && state.takeWaiting())
        }
        if tell { released() }
        return isWithin
    }

    fileprivate func release(_ count: Int, for program: ClientProgram) {
        let tell = state.withLock { state in
            state.add(-count, program)
            return state.takeWaiting()
        }
        if tell { released() }
    }
}

/// The memory of one frame from its arrival until its request is answered; released with the last reference.
package final class HeldBytes: Sendable {
    private let budget: ByteBudget
    private let program: ClientProgram
    private let count: Int

    fileprivate init(_ budget: ByteBudget, _ program: ClientProgram, _ count: Int) {
        self.budget = budget
        self.program = program
        self.count = count
    }

    deinit { budget.release(count, for: program) }
}
