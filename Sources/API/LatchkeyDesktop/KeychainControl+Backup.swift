// SPDX-License-Identifier: Apache-2.0

public import LatchkeyModel
import LatchkeySystem

extension SkipReason {
    /// The reason for people who do not know the parts of an access control.
    fileprivate var plainWords: Phrase {
        switch self {
        case .thisDeviceOnly: "it never leaves this computer"
        case .inToken: "it is a private key that never leaves this computer"
        case .boundRule: "only this computer can check who may read it"
        case .foreignGroup, .impossibleGroup, .applicationPassword, .unreadable, .tooLarge, .newerThere, .nameTaken,
            .boundToEnrolment, .invalidated, .olderThere, .otherTPM, .earlierPasscode, .irreplaceableThere,
            .unreadableThere:
            words
        }
    }
}

extension KeychainControl {
    /// An item that a backup left out.
    public struct LeftOut: Equatable, Sendable {
        /// The app that stored it; empty if the item cannot be read.
        public let app: String
        /// Its name; empty if it has none or cannot be read.
        public let name: String
        /// Why it was left out, as a clause for people.
        public let reason: Phrase

        init(_ item: SkippedItem) {
            app = item.group
            let place = String.itemPlace(item.service, ofApp: item.group)
            name = String(itemNamed: item.label.isEmpty ? item.account : item.label, at: place).asShownLine
            reason = item.reason.plainWords
        }
    }

    /// The text of a path for people: bytes that are not UTF-8 are shown as `\xE9`, and characters that could change the text
    /// around them are replaced.
    ///
    /// - Parameter path: the bytes of the path.
    /// - Returns: one line of text.
    public static func text(ofPath path: [UInt8]) -> String { String(showing: path).withoutControls }

    /// What a backup contains, or what was added from it.
    public struct BackupResult: Equatable, Sendable {
        /// Number of items in the backup, or added to the keychain.
        public let count: UInt64
        /// Number of items that were in the keychain already.
        public let presentCount: UInt64
        /// Number of items that were left out.
        public let leftOutCount: UInt64
        /// The first of them.
        public let leftOut: [LeftOut]

        init(_ result: BackupTransfer.Result) {
            count = result.count
            presentCount = result.present
            leftOutCount = result.skipped.count
            leftOut = result.skipped.named.map { LeftOut($0) }
        }
    }

    /// Writes a backup to a file. The user allows it at a prompt, which also shows the recovery code: nothing else
    /// shows it.
    ///
    /// - Parameters:
    ///   - path: the file, in bytes, because its name need not be UTF-8; it gets this name only when it is complete.
    ///   - mayReplace: whether an existing file is replaced.
    ///   - progress: called on the calling thread with the number of items so far.
    /// - Returns: what the backup contains.
    /// - Throws: `SettingsFailure`, with code `exists` if there is such a file that may not be replaced, and `cancelled`
    ///   if the user cancels.
    public func writeBackup(
        to path: [UInt8], mayReplace: Bool, progress: (Int) -> Void
    ) throws(SettingsFailure) -> BackupResult {
        let path = FilePath(bytes: path)
        guard mayReplace || !Files.exists(path) else {
            throw SettingsFailure(.exists, "\(path) exists already.")
        }
        do throws(Failure) {
            return BackupResult(try transfer.export(to: path, progress: progress))
        } catch {
            throw SettingsFailure(error)
        }
    }

    /// Adds the items of a backup. The user enters its recovery code at the prompt.
    ///
    /// - Parameters:
    ///   - path: the file, in bytes.
    ///   - progress: called on the calling thread with the number of added items so far.
    /// - Returns: what was added.
    /// - Throws: `SettingsFailure`, with code `notFound` if there is no such file, and `cancelled` if the user cancels.
    public func readBackup(from path: [UInt8], progress: (Int) -> Void) throws(SettingsFailure) -> BackupResult {
        do throws(Failure) {
            return BackupResult(try transfer.restore(from: FilePath(bytes: path), progress: progress))
        } catch {
            throw SettingsFailure(error)
        }
    }
}
