// SPDX-License-Identifier: Apache-2.0

/// A refusal or a fault: a code for programs, sentences for people, and its origin for logs.
///
/// Two failures are equal when their codes are equal; the texts are for people and may change.
package struct Failure: Error, Equatable, Sendable {
    /// The place in the source at which a failure was made, written as `Module/File.swift:line`.
    package struct Source: CustomStringConvertible, Sendable {
        package let file: String
        package let line: UInt

        package var description: String { "\(file):\(line)" }
    }

    /// The code of what happened.
    package let status: Status
    /// One or more sentences that say what happened. They never contain a secret, an item's value or a passcode.
    package let message: String
    /// What the user can do about it, or empty.
    package let hint: String
    /// Where this process made the failure. It is for logs and never sent: a failure that a peer sent has the place at which
    /// its frame was decoded.
    package let source: Source
    /// The error of the layer below that this failure translates. It is for logs and never sent.
    package let cause: (any Error)?

    /// Makes a failure at the place of the call.
    package init(
        _ status: Status, _ message: String = "", hint: String = "", cause: (any Error)? = nil,
        file: String = #fileID, line: UInt = #line
    ) {
        self.status = status
        self.message = message
        self.hint = hint
        self.cause = cause
        source = Source(file: file, line: line)
    }

    package static func == (left: Failure, right: Failure) -> Bool { left.status == right.status }
}

extension Failure {
    /// A store of a format that was never released and is no longer read.
    package static func storeOlder(
        _ version: some BinaryInteger, file: String = #fileID, line: UInt = #line
    ) -> Failure {
        Failure(
            .storeOlder, "The store has version \(version), which this Latchkey does not read any more.",
            hint:
                "It is left as it is. Use the Latchkey that made it, or move its folder away to begin with an empty store.",
            file: file, line: line)
    }
}
