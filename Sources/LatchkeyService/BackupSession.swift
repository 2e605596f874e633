// SPDX-License-Identifier: Apache-2.0

import LatchkeyBackup
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import Synchronization

/// An export or import under way: what the person allowed once, for one connection, until it ends.
struct BackupSession: Sendable {
    /// Which of the two it is, and how far.
    enum Work: Sendable {
        case export(Export)
        case `import`(Import)
    }

    struct Export: Sendable {
        var writer: BackupWriter
        /// Bytes that were made and not sent: at most a page and a record.
        var waiting: [UInt8]
        var position: Int64? = BackupPage.start
        var count: UInt64 = 0
    }

    struct Import: Sendable {
        var file: BackupImport
        var added: UInt64 = 0
        var present: UInt64 = 0
    }

    /// The passcode, where one is set.
    let proof: Authorisation
    /// Ends with what was proven: a lock ends it.
    let epoch: UInt64
    let lease: BackupLease
    var work: Work
    /// Names it for one request.
    var cursor: [UInt8] = []
    /// When it dies of rest, on the boot clock.
    var deadline: Int64 = 0
}

/// A place among the exports and imports of a daemon, given back with the last reference to it.
final class BackupLease: Sendable {
    private let release: @Sendable () -> Void
    fileprivate init(_ release: @escaping @Sendable () -> Void) { self.release = release }
    deinit { release() }
}

/// Counts the exports and imports of a daemon.
final class BackupCount: Sendable {
    private let count = Mutex(0)

    func lease() throws(Failure) -> BackupLease {
        let hasRoom = count.withLock { count in
            guard count < Limits.backups else { return false }
            count += 1
            return true
        }
        guard hasRoom else {
            throw Failure(
                .limitExceeded, "\(Limits.backups) exports and imports are under way.", hint: "Try again later.")
        }
        return BackupLease { [self] in count.withLock { $0 -= 1 } }
    }
}
