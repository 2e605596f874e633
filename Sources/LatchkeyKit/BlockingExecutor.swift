// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs each job on a thread of its own: for calls that wait for a person, of which there may be more than a pool has
/// threads. The task stays the same, and with it its task-local values.
final class BlockingExecutor: TaskExecutor {
    private static let shared = BlockingExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread.detachNewThread { job.runSynchronously(on: executor) }
    }

    /// What `body`, which may block, returns or throws.
    @concurrent static func result<Value: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withTaskExecutorPreference(shared) {
            // A call, since what follows the switch itself may still be on the thread before.
            await perform(body)
        }
    }

    /// Returns or throws what `body`, which may block, does.
    @concurrent static func run<Value: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value { try await result(body).get() }

    @concurrent private static func perform<Value: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        do throws(Failure) {
            return .success(try body())
        } catch {
            return .failure(error)
        }
    }
}
