// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The cause of a failure of an event that has happened: only its last write failed, which is tried again before the next
/// event. The other processes have to apply the event nevertheless.
package struct IncompleteEvent: Error, CustomStringConvertible {
    fileprivate let cause: (any Error)?

    package var description: String { cause.map { "\($0)" } ?? "the last write of an event" }
}

extension Failure {
    /// The failure of an event whose last write has failed.
    static func incomplete(_ failure: Failure) -> Failure {
        Failure(
            failure.status, "The change was made, but its last step failed: \(failure.message)", hint: failure.hint,
            cause: IncompleteEvent(cause: failure.cause))
    }

    /// Whether the event that failed has happened.
    package var isOfIncompleteEvent: Bool { cause is IncompleteEvent }
}
