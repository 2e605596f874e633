// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The records of a user's passcode, with the kind that it had when they were read or stored last. The state of the
/// authority has the kind, and is sent often.
final class FollowedRecords: PasscodeRecordStore {
    private let records: any PasscodeRecordStore
    private let lastKind = Mutex<PasscodeKind?>(nil)

    init(_ records: any PasscodeRecordStore) { self.records = records }

    /// The kind of the passcode. While it may be either, this is the password of the account, the weaker of both. Nil if
    /// there is no passcode, or if the records could not be read.
    var kind: PasscodeKind? { lastKind.withLock { $0 } }

    func passcodeRecords() throws(Failure) -> PasscodeRecords {
        do throws(Failure) {
            let found = try records.passcodeRecords()
            follow(found)
            return found
        } catch {
            lastKind.withLock { $0 = nil }
            throw error
        }
    }

    func keep(_ new: PasscodeRecords) throws(Failure) {
        try records.keep(new)
        follow(new)
    }

    private func follow(_ found: PasscodeRecords) {
        let kinds = found.kinds
        lastKind.withLock { $0 = kinds.contains(.account) ? .account : kinds.first }
    }
}
