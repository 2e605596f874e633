// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The turns of the long replies of one connection. The reply whose turn it is reads and sends one page, when the
/// client has received most of what was sent before (back-pressure), so that a connection never makes the daemon hold
/// more than its send queue and one page.
final class PageLine: Sendable {
    private struct Waiting: Sendable {
        let id: UInt64
        let turn: CheckedContinuation<Bool, Never>
    }

    private struct State: Sendable {
        var waiting: [Waiting] = []
        /// The first of the line, until there is room for its page.
        var awaitsRoom: Waiting?
        var holder: UInt64?
        /// Whether a thread is already giving turns.
        var isStarting = false
        var isClosed = false

        mutating func begin() -> Bool {
            defer { isStarting = true }
            return !isStarting
        }

        /// Chooses the next reply of the line; if there is none to wait for room, ends giving turns and returns false.
        mutating func next() -> Bool {
            guard awaitsRoom == nil, holder == nil, !waiting.isEmpty else {
                isStarting = false
                return false
            }
            awaitsRoom = waiting.removeFirst()
            return true
        }
    }
    private let state = Mutex(State())
    private let whenRoom: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(whenRoom: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.whenRoom = whenRoom }

    /// Waits until it is the turn of a request and there is room for its page; its previous turn ends.
    ///
    /// - Returns: false if the connection has ended.
    func turn(of id: UInt64) async -> Bool {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if state.holder == id { state.holder = nil }
                if !state.isClosed { state.waiting.append(Waiting(id: id, turn: continuation)) }
                return state.isClosed
            }
            if isClosed { continuation.resume(returning: false) } else { start() }
        }
    }

    /// Ends the turn of a request, if it has one.
    func endTurn(of id: UInt64) {
        let hadTurn = state.withLock { state in
            guard state.holder == id else { return false }
            state.holder = nil
            return true
        }
        if hadTurn { start() }
    }

    /// Ends all waits, because the connection has ended.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            defer { (state.waiting, state.awaitsRoom) = ([], nil) }
            return (state.awaitsRoom.map { [$0] } ?? []) + state.waiting
        }
        for one in all { one.turn.resume(returning: false) }
    }

    /// Gives turns in a loop: a page may be read and sent before its turn was given completely, and a recursion would
    /// be as deep as there are pages.
    private func start() {
        guard state.withLock({ $0.begin() }) else { return }
        while state.withLock({ $0.next() }) {
            whenRoom { [self] in
                let first = state.withLock { state in
                    state.holder = state.awaitsRoom?.id
                    return state.awaitsRoom.take()
                }
                first?.turn.resume(returning: true)
            }
        }
    }
}
