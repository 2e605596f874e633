// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// The state of an export or import between two of its requests. The user authorised it once, for one connection.
struct BackupSession: Sendable {
    /// The kind of the operation and its state.
    enum Work: Sendable {
        case export(Export)
        case `import`(Import)
    }

    struct Export: Sendable {
        var writer: BackupWriter
        /// Bytes of the backup that were not sent yet: at most those of a frame, of a page and of a record.
        var waiting: [UInt8]
        var position: Int64? = BackupPage.start
        var count: UInt64 = 0
    }

    struct Import: Sendable {
        var file: BackupImport
        var added: UInt64 = 0
        var present: UInt64 = 0
    }

    /// The proof of the passcode; without proofs if no passcode is set.
    let proof: Authorisation
    /// The session's `proofEpoch` when the export or import began. When `proofEpoch` changes, for example because the
    /// device is locked, the export or import ends.
    let epoch: UInt64
    let lease: BackupLease
    var work: Work
    /// Identifies the export or import in its next request; each cursor is valid for one request.
    var cursor: [UInt8] = []
    /// When the export or import expires without a further request, in nanoseconds of the boot-time clock.
    var deadline: Int64 = 0
    /// Ends the session at its deadline; it is cancelled when the session is continued or ends.
    var alarm: (any Alarm)?
}

/// One of the daemon's `Limits.backups` exports, imports and migrations; released with the last reference.
final class BackupLease: Sendable {
    private let release: @Sendable () -> Void
    fileprivate init(_ release: @escaping @Sendable () -> Void) { self.release = release }
    deinit { release() }
}

/// Limits the number of concurrent exports, imports and migrations of a daemon.
final class BackupCount: Sendable {
    private let count = Mutex(0)

    /// Reserves an export or import; throws `limitExceeded` if `Limits.backups` are under way.
    func lease() throws(Failure) -> BackupLease {
        let hasRoom = count.withLock { count in
            guard count < Limits.backups else { return false }
            count += 1
            return true
        }
        guard hasRoom else {
            throw Failure(
                .limitExceeded, "\(Limits.backups) exports, imports and migrations are under way.",
                hint: "Try again later.")
        }
        return BackupLease { [self] in count.withLock { $0 -= 1 } }
    }
}
