// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// What a copy between two keyrings did, or would do.
struct CopyReport: Sendable {
    let isDryRun: Bool
    var copied = 0
    /// Items that the target had already, with the same label and pairs.
    var present = 0
    var failed: [(label: String, reason: Phrase)] = []

    init(isDryRun: Bool) { self.isDryRun = isDryRun }

    /// Adds an item that was not copied.
    ///
    /// - Throws: the failure, if the copies of the other items would fail too.
    mutating func failed(_ label: String, _ failure: Failure) throws(Failure) {
        switch failure.status {
        case .daemonUnavailable, .interactionNotAllowed, .notPermitted, .userCancel, .promptDelayed, .cancelled,
            .diskFull,
            .storeReadOnly:
            throw failure
        default: failed.append((label, failure.message))
        }
    }

    var json: JSON {
        .object([
            ("dryRun", .boolean(isDryRun)), ("copied", .number(Int64(copied))), ("present", .number(Int64(present))),
            (
                "failed",
                .array(
                    failed.map { .object([("label", .text($0.label)), ("reason", .text($0.reason.description))]) })
            ),
        ])
    }
}
