// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
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

    /// What one program holds. All connections of the program have the same one.
    package final class Share: Sendable {
        let budget: ByteBudget
        private let program: ClientProgram
        /// Changed by the budget alone, while it holds its lock.
        fileprivate let bytes = Atomic(0)

        fileprivate init(_ budget: ByteBudget, _ program: ClientProgram) {
            (self.budget, self.program) = (budget, program)
        }

        deinit { budget.remove(program) }

        /// Bytes held by the program now.
        package var held: Int { bytes.load(ordering: .relaxed) }
    }

    private struct WeakShare: Sendable { weak var share: Share? }

    private struct State: Sendable {
        var total = 0
        var shares: [ClientProgram: WeakShare] = [:]
        /// Whether the server has stopped reading a connection because of this budget.
        var isWaitedFor = false

        mutating func add(_ count: Int, _ share: Share) {
            total += count
            share.bytes.add(count, ordering: .relaxed)
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
        (self.bounds, self.released) = (bounds, released)
    }

    /// Bytes held by all programs now.
    package var total: Int { state.withLock { $0.total } }

    /// The share of a program, for a connection that will use it for each frame.
    package func share(of program: ClientProgram) -> Share {
        state.withLock { state in
            if let share = state.shares[program]?.share { return share }
            let share = Share(self, program)
            state.shares[program] = WeakShare(share: share)
            return share
        }
    }

    /// Removes the entry of a share that nothing uses any more, unless the program has another one by now.
    private func remove(_ program: ClientProgram) {
        let other = state.withLock { state in
            let other = state.shares[program]?.share
            if other == nil { state.shares[program] = nil }
            return other
        }
        // If this is the last reference to it, it must not end while the lock is held.
        withExtendedLifetime(other) {}
    }

    /// Whether small frames of a program may be read; if not, `released` is called when it is worth trying again.
    package func mayRead(_ share: Share) -> Bool {
        state.withLock { state in
            let held = share.held
            let may = held < bounds.program && (state.total < bounds.total || held < bounds.always)
            if !may { state.isWaitedFor = true }
            return may
        }
    }

    /// Reserves memory for a large frame before it is read; returns nil when there is none now, and `released` is
    /// called later.
    package func reserve(_ count: Int, for share: Share) -> HeldBytes? {
        let isGranted = state.withLock { state in
            let held = share.held
            let limit = held <= bounds.always ? bounds.total : bounds.total - bounds.reserved
            guard held + count <= bounds.program, state.total + count <= limit else {
                state.isWaitedFor = true
                return false
            }
            state.add(count, share)
            return true
        }
        return isGranted ? HeldBytes(share, count) : nil
    }

    /// Counts a small frame that has arrived.
    package func hold(_ count: Int, for share: Share) -> HeldBytes {
        state.withLock { $0.add(count, share) }
        return HeldBytes(share, count)
    }

    /// Adjusts the count for queued answers by `count` bytes, which may be negative.
    ///
    /// - Returns: false when the program must be disconnected because it does not read its answers: it holds more than
    ///   twice its share, or more than `always` while all programs together hold more than twice the total.
    func change(by count: Int, for share: Share) -> Bool {
        let (isWithin, mayContinue) = state.withLock { state in
            state.add(count, share)
            let held = share.held
            let isWithin = held <= 2 * bounds.program && (state.total <= 2 * bounds.total || held <= bounds.always)
            return (isWithin, count < 0 && state.takeWaiting())
        }
        if mayContinue { released() }
        return isWithin
    }

    fileprivate func release(_ count: Int, for share: Share) {
        let mayContinue = state.withLock { state in
            state.add(-count, share)
            return state.takeWaiting()
        }
        if mayContinue { released() }
    }
}

/// The memory of one frame from its arrival until its request is answered; released with the last reference.
package final class HeldBytes: Sendable {
    private let share: ByteBudget.Share
    private let count: Int

    fileprivate init(_ share: ByteBudget.Share, _ count: Int) { (self.share, self.count) = (share, count) }

    deinit { share.budget.release(count, for: share) }
}
