// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Synchronization

extension Mutex where Value: Sendable {
    /// Calls `body` while this lock is held; returns its result or throws its typed error.
    ///
    /// `withLock` accepts only results that are known to be free of the protected value, which a generic result is not.
    /// The bodies here return copies of rows and never the connection.
    borrowing func withLockForAnyResult<R>(_ body: (inout Value) throws(Failure) -> R) throws(Failure) -> R {
        var result: Result<R, Failure>?
        withLock { value in
            do throws(Failure) { result = .success(try body(&value)) } catch { result = .failure(error) }
        }
        guard let result else { throw Failure(.internalFailure, "The store gave no result.") }
        return try result.get()
    }
}
