// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs each job on a thread of its own, for calls that block until the user has answered.
///
/// A pool could run out of threads for such calls. The job stays in the caller's task, so task-local values are
/// available to it.
final class BlockingExecutor: TaskExecutor {
    private static let shared = BlockingExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread.detachNewThread { job.runSynchronously(on: executor) }
    }

    /// Runs `body`, which may block, and returns its result.
    @concurrent static func result<Value: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withTaskExecutorPreference(shared) {
            // A separate function, because the code right after the switch may still run on the previous thread.
            await perform(body)
        }
    }

    /// Runs `body`, which may block, and returns or throws its result.
    @concurrent static func run<Value: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value { try await result(body).get() }

    @concurrent private static func perform<Value: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
}
