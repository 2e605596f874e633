// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

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
