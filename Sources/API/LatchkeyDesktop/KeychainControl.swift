// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// A connection with which the user controls their keychain.
///
/// Calls block the calling thread, some of them until the user has answered a prompt, and may be made from any thread.
/// No passcode, recovery code or secret of an item passes through this interface: the daemon asks for them at its own
/// prompt.
public final class KeychainControl: Sendable {
    private let connection: Connection

    /// The version of this release.
    public static let version = productVersion

    /// Brings the program into a known state, whatever the one that started it left: closed standard streams get a place on
    /// which every use fails, and no write raises a signal. The first call of a program.
    ///
    /// - Returns: the arguments after the program's name. One that is not UTF-8 ends the program with status 64.
    public static func beginProgram() -> [String] { ProgramStart.begin() }

    /// Creates a connection; the first call connects, and starts the user's daemon if necessary.
    public init() { connection = Connection() }

    /// Creates a connection whose first call starts the user's daemon only if `startsDaemon`.
    init(startsDaemon: Bool) { connection = Connection(startsDaemon: startsDaemon) }

    /// Ends the connection. A call that waits fails with code `cancelled` and the daemon dismisses its prompt; so do
    /// later calls. May be called from any thread.
    public func cancel() { connection.cancel() }

    // MARK: - Reading

    /// The state of the keychain; shows no prompt.
    ///
    /// - Throws: `SettingsFailure` with code `unavailable` without a daemon.
    public func overview() throws(SettingsFailure) -> KeychainOverview { KeychainOverview(try call(Request.Status())) }

    /// The items of all apps, without secrets, ordered by app and name; shows no prompt.
    ///
    /// - Throws: `SettingsFailure`, with code `storeUnusable` for a store that cannot be read, and `other` without
    ///   `KeychainOverview.listsItems`.
    public func items() throws(SettingsFailure) -> [StoredItem] { sorted(try call(Request.ListEverything())) }

    /// The names and access controls of the items of all apps, ordered by app and name, after the user agreed at the
    /// prompt with a finger, a face or the passcode. The audit log records it.
    ///
    /// - Throws: `SettingsFailure`, with code `passcodeNotSet` without a passcode, `locked` for a locked keychain,
    ///   `cancelled` if the user cancels and `noPrompt` if nothing can show the prompt.
    public func itemsAfterPrompt() throws(SettingsFailure) -> [StoredItem] { sorted(try call(Request.ListNames())) }

    /// Deletes an item of any app. In tiers in which `KeychainOverview.listsItems` is false, a prompt that names the item asks
    /// the user. In the others there is no prompt, so the caller must ask the user first. The audit log records the deletion.
    ///
    /// - Parameter item: an item of `items()` or of `itemsAfterPrompt()`.
    /// - Throws: `SettingsFailure`, with code `notFound` if it is not there any more or has another name, `passcodeNotSet` without
    ///   a passcode, `locked` for a locked keychain, `cancelled` if the user cancels and `noPrompt` if nothing can show the
    ///   prompt.
    public func delete(_ item: StoredItem) throws(SettingsFailure) {
        guard let reference = item.reference else { throw SettingsFailure(.notFound, "The item cannot be named.") }
        try call(Request.DeleteListed(reference))
    }

    private func sorted(_ found: [FoundItem]) -> [StoredItem] {
        found.enumerated().map { StoredItem($1, number: $0) }
            .sorted { ($0.app, $0.place, $0.name, $0.id) < ($1.app, $1.place, $1.name, $1.id) }
    }

    /// The newest entries of the audit log, newest first; shows no prompt.
    ///
    /// - Parameters:
    ///   - number: entries older than this number are returned; nil for the newest ones.
    ///   - limit: the largest number of entries, 1 to 1024.
    /// - Returns: the entries; none if there are no older ones.
    /// - Throws: `SettingsFailure`, with code `storeUnusable` for a store that cannot be read.
    public func activity(before number: Int64? = nil, limit: Int) throws(SettingsFailure) -> [ActivityEntry] {
        let limit = Int64(clamping: min(max(1, limit), Int(Limits.auditEntries)))
        let end: Int64
        if let number { end = max(1, number) - 1 } else { end = try page(after: 0, limit: 0).last }
        guard end > 0 else { return [] }
        var after = max(0, end - limit)
        var lines: [AuditLine] = []
        // A page also ends when a frame is full.
        while after < end {
            let page = try page(after: after, limit: UInt64(end - after)).lines.filter { $0.sequence <= end }
            guard let last = page.last else { break }
            after = last.sequence
            lines += page
        }
        return lines.reversed().map { ActivityEntry($0) }
    }

    private func page(after: Int64, limit: UInt64) throws(SettingsFailure) -> AuditPage {
        try call(Request.Log(after: after, limit: limit, verifies: false))
    }

    // MARK: - Passcode and lock

    /// Sets the first passcode, which the user enters at the prompt.
    ///
    /// - Throws: `SettingsFailure`, with code `cancelled` if the user cancels and `noPrompt` if nothing can show it.
    public func setPasscode() throws(SettingsFailure) { try call(Request.PasscodeChange.setAtPrompt) }

    /// Changes the passcode; the prompt asks for the current one and the new one.
    ///
    /// - Throws: `SettingsFailure`, with code `cancelled` if the user cancels and `noPrompt` if nothing can show it.
    public func changePasscode() throws(SettingsFailure) { try call(Request.PasscodeChange.changeAtPrompt) }

    /// Removes the passcode, and the items with `StoredItem.needsPasscode`; the prompt asks for the passcode.
    ///
    /// - Throws: `SettingsFailure`, with code `cancelled` if the user cancels and `noPrompt` if nothing can show it.
    public func removePasscode() throws(SettingsFailure) { try call(Request.PasscodeChange.remove) }

    /// Asks for the passcode at the prompt. A right one ends a lockout of the sensor.
    ///
    /// - Parameter reason: why, as the prompt shows it.
    /// - Throws: `SettingsFailure`, with code `cancelled` if the user cancels and `noPrompt` if nothing can show it.
    public func checkPasscode(reason: String) throws(SettingsFailure) {
        try call(
            Request.EvaluateAccessControl(
                context: try call(Request.CreateContext()), accessControl: AccessControl(constraints: .devicePasscode),
                prompting: Prompting(reason: reason).clipped))
    }

    /// Locks the keychain for all programs of the user; shows no prompt.
    ///
    /// - Throws: `SettingsFailure`, with code `passcodeNotSet` if nothing could unlock it again.
    public func lock() throws(SettingsFailure) { try call(Request.Lock()) }

    /// Unlocks the keychain after a finger, a face or the passcode.
    ///
    /// - Throws: `SettingsFailure`, with code `cancelled` if the user cancels and `noPrompt` if nothing can show it.
    public func unlock() throws(SettingsFailure) { try call(Request.Unlock(Prompting())) }

    // MARK: - Face ID

    /// The answer of the user to an app that asked to use Face ID.
    public struct FaceAnswer: Equatable, Sendable {
        /// The app's name.
        public let app: String
        /// Whether the app may use Face ID.
        public let isAllowed: Bool
    }

    /// The answers to apps that asked to use Face ID, ordered by app; shows no prompt.
    ///
    /// - Throws: `SettingsFailure`, with code `storeUnusable` for a store that cannot be read.
    public func faceAnswers() throws(SettingsFailure) -> [FaceAnswer] {
        try call(Request.FacePermissions()).map { FaceAnswer(app: $0.application, isAllowed: $0.isAllowed) }.sorted {
            $0.app < $1.app
        }
    }

    /// Withdraws an answer; shows no prompt.
    ///
    /// - Parameters:
    ///   - app: the app's name.
    ///   - mayAskAgain: whether the app may ask once more; otherwise it is refused from now on.
    /// - Throws: `SettingsFailure`, with code `notFound` for an app that has not asked.
    public func withdrawFace(from app: String, mayAskAgain: Bool) throws(SettingsFailure) {
        try call(Request.FacePermissionChange(application: app, mayAskAgain: mayAskAgain))
    }

    // MARK: - Calls

    func call<Call: DaemonRequest>(_ request: Call) throws(SettingsFailure) -> Call.Response {
        do throws(Failure) { return try connection.call(request) } catch { throw SettingsFailure(error) }
    }

    var transfer: BackupTransfer { BackupTransfer(connection) }
}
