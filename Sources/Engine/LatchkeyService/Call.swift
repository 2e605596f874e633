// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// A request while it is handled.
struct Call: Sendable {
    let id: UInt64
    /// Sends a part of the reply before the last one, which the handler returns.
    let send: RequestHandler.Answer
}

/// How a request is answered.
enum Handling: Sendable {
    /// Now, with this reply.
    case reply(Reply)
    /// By a task, because it may wait: for the user, a queue, or room in the send queue.
    case waits(@Sendable () async throws(Failure) -> Reply)
}

extension Session {
    /// Answers a request once, with what its handler returns or throws.
    func finish(_ call: Call, _ handle: () throws(Failure) -> Handling) {
        do throws(Failure) {
            switch try handle() {
            case .reply(let reply): call.send(reply)
            case .waits(let work): start(call, work)
            }
        } catch {
            let failure = error
            guard failure.status == .missingEntitlement else { return call.send(.failure(failure)) }
            start(call) { () async throws(Failure) in throw failure }
        }
    }

    private func start(_ call: Call, _ work: @escaping @Sendable () async throws(Failure) -> Reply) {
        Task(executorPreference: RequestExecutor.shared) { [self] in
            do throws(Failure) {
                call.send(try await work())
            } catch {
                // A request that named the access group of another program is a refusal.
                if error.status == .missingEntitlement { await recordRefusal(.otherApp) }
                if error != Refusal.connectionEnded { call.send(.failure(error)) }
            }
            pages.endTurn(of: call.id)
            state.withLock { $0.afterReply.removeValue(forKey: call.id) }?()
        }
    }

    /// Records that the caller did not get what it asked for.
    ///
    /// - Parameters:
    ///   - item: the item; empty if it is not known.
    ///   - named: the caller under the name that it had when it asked; otherwise that of now.
    func recordRefusal(_ reason: RefusalReason, of item: [UInt8] = [], by named: Caller? = nil) async {
        // A refusal that cannot be recorded is logged; the request fails with its own failure.
        try? await service.parts.work.run { [self] () throws(Failure) in
            do throws(Failure) { try keychain().recordRefusal(of: named ?? caller, item: item, reason) } catch {
                service.unrecorded.record(.refusalNotRecorded, error, for: error.status)
            }
        }
    }

    /// Records the failure of an attempt to open an item or a key, if it is a refusal: a wrong application password, an
    /// invalidated item or a locked keychain, for which no prompt was shown.
    ///
    /// - Parameters:
    ///   - item: the item; empty if it is not known.
    ///   - asking: how the request may ask the person. One that may not do so expects a locked keychain.
    /// - Returns: the failure.
    func recorded(_ failure: Failure, of item: [UInt8] = [], _ asking: Prompting) async -> Failure {
        let isLocked = failure.reason == .locked && asking.interactionAllowed
        if failure.status == .itemAuthenticationFailed || isLocked {
            await recordRefusal(failure.reason ?? RefusalReason(failure.status), of: item)
        }
        if isLocked { announceRefusal() }
        return failure
    }
}

extension Session {
    /// Has an agent offer to unlock the keychain. The Secret Service has a prompt of its own for that, which its clients ask
    /// for.
    func announceRefusal() { if !isDelegate { service.announceRefusal(of: caller) } }
}

/// Runs the tasks of requests without the runtime's thread pool: each job runs at once, on the thread that makes it
/// runnable (docs/design/decisions/046-requests-that-wait.md).
///
/// A task begins on the thread that received its request and continues where its wait has ended, or on the thread that
/// began the wait if it ended at once. That can be the loop thread, so whatever may block runs in a queue
/// (`WorkQueue.run`), never between two waits.
final class RequestExecutor: TaskExecutor {
    static let shared = RequestExecutor()

    func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}

extension WorkQueue {
    /// Runs `work` on this queue and returns its result.
    func run<Value: Sendable>(
        _ extent: WorkExtent = .any, _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await begin(extent) { (end) throws(Failure) in end(try work()) }
    }

    /// Runs `work` on this queue and returns what it passes to its argument, once and from any thread, or throws its
    /// failure.
    func begin<Value: Sendable>(
        _ extent: WorkExtent = .any,
        _ work: @escaping @Sendable (_ end: @escaping @Sendable (Value) -> Void) throws(Failure) -> Void
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            submit(extent) {
                do throws(Failure) {
                    try work { continuation.resume(returning: .success($0)) }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
