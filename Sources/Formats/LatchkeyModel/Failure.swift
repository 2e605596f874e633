// SPDX-License-Identifier: Apache-2.0

/// A refusal or an error: a code for programs, texts for people, and the place of its origin for logs.
///
/// Two failures are equal if their codes are equal, since the texts may change.
package struct Failure: Error, Equatable, Sendable {
    /// The place in the source code that created a failure; its description is `Module/File.swift:line`.
    package struct Source: CustomStringConvertible, Sendable {
        package let file: String
        package let line: UInt

        package var description: String { "\(file):\(line)" }
    }

    package let status: Status
    /// A description of the error for people, one or more sentences. It never contains a secret, an item's value or a
    /// passcode.
    package let message: Phrase
    /// What the user can do about the error; empty if there is no advice.
    package let hint: Phrase
    /// The place in the source code that created the failure, for logs. It is not sent to a peer: a failure from a peer
    /// has the place that decoded its frame.
    package let source: Source
    /// The error of a lower layer that this failure translates, for logs; nil if there is none. It is not sent to a
    /// peer.
    package let cause: (any Error)?
    /// The reason of a refusal for the audit log, if the status does not say it. It is not sent to a peer.
    package let reason: RefusalReason?

    /// Creates a failure whose `source` is the place of the call.
    package init(
        _ status: Status, _ message: Phrase = "", hint: Phrase = "", cause: (any Error)? = nil,
        reason: RefusalReason? = nil, file: String = #fileID, line: UInt = #line
    ) {
        self.status = status
        self.message = message
        self.hint = hint
        self.cause = cause
        self.reason = reason
        source = Source(file: file, line: line)
    }

    package static func == (left: Failure, right: Failure) -> Bool { left.status == right.status }
}

extension Failure {
    /// Returns the failure for a store whose format version was never released and is no longer read.
    package static func storeOlder(
        _ version: some BinaryInteger, file: String = #fileID, line: UInt = #line
    ) -> Failure {
        Failure(
            .storeOlder, "The store has format version \(version), which this version of Latchkey no longer reads.",
            hint:
                "It is left as it is. Use the version of Latchkey that created it, or move its folder away to begin "
                + "with an empty store.",
            file: file, line: line)
    }
}
