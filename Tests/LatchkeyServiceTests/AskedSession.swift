// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

@testable import LatchkeyService

extension Session {
    /// Asks the user as a request does, and passes the result to `end`.
    func ask(_ id: UInt64, _ question: Question, _ end: @escaping @Sendable (Result<Agreement, Failure>) -> Void) {
        Task(executorPreference: RequestExecutor.shared) { [self] in
            do throws(Failure) {
                end(.success(try await ask(Call(id: id) { _ in }, question)))
            } catch {
                end(.failure(error))
            }
        }
    }
}
