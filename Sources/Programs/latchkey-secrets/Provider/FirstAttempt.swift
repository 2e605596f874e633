// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// The keeper of one call that the thread of the bus tries to finish itself.
///
/// What the call asks the daemon for first is sent by that thread, which waits a moment for the answer. If none is there, or if
/// the call asks for more, the attempt is unfinished: its result is no result, and a thread that may wait does the work again.
/// That one gets the answer to the request that was sent: nothing is sent twice.
final class FirstAttempt: SecretKeeper, @unchecked Sendable {
    // Sendable: the thread that waits has it after the one that tries, and never together with it.

    private enum First {
        case notBegun
        case begun(any BegunUse)
        case answered([FoundItem])
    }

    private let keeper: any SecretKeeper
    private var first = First.notBegun
    private(set) var isUnfinished = false

    init(_ keeper: any SecretKeeper) { self.keeper = keeper }

    func use(
        _ action: SecretAction, for program: AskingProcess, _ cancellation: CallCancellation
    ) throws(Failure) -> [FoundItem] {
        guard isUnfinished else { return try attempt(action, program) }
        defer { first = .notBegun }
        switch first {
        case .notBegun: return try keeper.use(action, for: program, cancellation)
        case .begun(let use): return try use.response(cancellation)
        case .answered(let items): return items
        }
    }

    private func attempt(_ action: SecretAction, _ program: AskingProcess) throws(Failure) -> [FoundItem] {
        guard case .notBegun = first, let use = try keeper.begin(action, for: program) else { throw leave() }
        first = .begun(use)
        guard let items = try use.response(milliseconds: SecretProvider.Bound.attemptMilliseconds) else {
            throw leave()
        }
        first = .answered(items)
        return items
    }

    /// Ends the attempt with a failure that is discarded: the call is done again by another thread.
    private func leave() -> Failure {
        isUnfinished = true
        return Failure(.interactionNotAllowed, "The thread of the message bus does not wait.")
    }

    func begin(_ action: SecretAction, for program: AskingProcess) throws(Failure) -> (any BegunUse)? { nil }

    func isLocked() throws(Failure) -> Bool {
        guard isUnfinished else { throw leave() }
        return try keeper.isLocked()
    }

    func lock() throws(Failure) {
        guard isUnfinished else { throw leave() }
        try keeper.lock()
    }
}
