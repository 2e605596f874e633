// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import DaemonProcess
import Glibc
import LatchkeyIdentity
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeySystem
import SystemDriver

/// The keychains of all users in a system tier: each user has a folder, a store and a service of their own. A store is
/// opened when a program of its user first connects.
final class SystemKeychains: Sendable {
    /// What the services of all users share.
    struct Shared: Sendable {
        var tier: Tier
        /// The folder that has a folder for each user.
        var folder: String
        var vaults: StoreVaults
        var modules: KeyModules
        var acceptsVirtual: Bool
        var link: AuthorityLink
        var clock: any Clock
        var random: any RandomSource
        var log: any EventLog
        var unlockedMemory: @Sendable () -> String?
        /// Determines the access groups of items from the users' own stores.
        var groups: InstalledGroups
        /// Whether a short write may block the thread that serves connections: no other program waits.
        var mayWriteHere: @Sendable () -> Bool
    }

    /// Maximum users whose stores are open at the same time.
    static let users = 1024

    private let shared: Shared
    private let stretching = StretchThreads()
    private let background = SerialWorkQueue { false }
    /// Runs the operations of a key module that waits for a device; nil for one that only computes.
    private let keyWork: SerialWorkQueue?
    /// The service of a user, and the account to which the user's number belonged when it was opened.
    private struct Opened: Sendable {
        var account: AccountName
        var service: Service
        /// Whether the store was refused because it belongs to an earlier account of this number. It is opened again when
        /// the number belongs to that account again.
        var isOfAnotherAccount: Bool
    }
    private let services = OpenByUser<Opened>(limit: users)
    private static let stopping = Failure(.daemonUnavailable, "latchkeyd is stopping.", hint: "Try again.")

    init(_ shared: Shared) {
        self.shared = shared
        keyWork = shared.modules.needsThread ? SerialWorkQueue { false } : nil
    }

    /// Returns the service of a user, and opens the store first if necessary. Blocks; called on one thread at a time.
    func service(of userID: UInt32) throws(Failure) -> Service {
        // Asked for each connection: the account may be deleted, and its number given to another, while this runs.
        let account = try Accounts.name(of: userID)
        guard !services.isStopped else { throw Self.stopping }
        let opened = services.value(of: userID)
        if let opened, opened.account == account || !opened.isOfAnotherAccount {
            guard opened.account == account else {
                throw Failure.storeOfEarlierAccount(
                    "The keychain", userID, stored: opened.account, current: account)
            }
            // The device may be there again.
            if opened.service.isClosedForNow { opened.service.reopen() }
            return opened.service
        }
        opened?.service.stop()
        guard services.hasRoom(for: userID) else {
            throw Failure(.limitExceeded, "The keychains of \(Self.users) users are open, and no more can be opened.")
        }
        let new = try open(userID, account)
        // latchkeyd may have begun to stop while the store was opened. Nothing else would stop this service.
        guard services.keep(new, for: userID) else {
            new.service.stop()
            throw Self.stopping
        }
        new.service.beginStoreCheck()
        return new.service
    }

    /// A store that cannot be opened now has a service too, with which its recovery code can be entered.
    private func open(_ userID: UInt32, _ account: AccountName) throws(Failure) -> Opened {
        let folder = StoreFolder("\(shared.folder)/\(userID)")
        let authority = RemoteAuthority(userID: userID, link: shared.link, clock: shared.clock)
        let keychain = Result { () throws(Failure) in try openKeychain(folder, userID, account) }
        // Requests are refused with this failure until the next attempt succeeds; if the store was damaged, until latchkeyd
        // starts again after the store was restored.
        var isOfAnotherAccount = false
        if case .failure(let failure) = keychain {
            shared.log.note(.storeUnusable, failure)
            isOfAnotherAccount = failure.status == .storeOfEarlierAccount
        }
        var parts = Service.Parts(
            tier: shared.tier, userID: userID, storePath: folder.path, processID: getpid(), keychain: keychain,
            authority: authority, clock: shared.clock, random: shared.random,
            work: SerialWorkQueue(mayWorkHere: shared.mayWriteHere), stretching: stretching,
            background: background, keyWork: keyWork, keyModule: shared.modules.module,
            earlierKeyModules: shared.modules.earlier,
            mapGroup: { [groups = shared.groups] (group) throws(Failure) in
                try groups.target(of: group, userID: userID)
            },
            acceptsVirtual: shared.acceptsVirtual, log: shared.log, unlockedMemory: shared.unlockedMemory)
        parts.recovery = shared.vaults.recovery(folder, userID)
        // Weak: the services belong to this object, whose end closes the databases.
        parts.reopen = { [weak self] in
            Result { () throws(Failure) in
                guard let self, !self.services.isStopped else { throw Self.stopping }
                return try self.openKeychain(folder, userID, account)
            }
        }
        return Opened(account: account, service: Service(parts), isOfAnotherAccount: isOfAnotherAccount)
    }

    private func openKeychain(
        _ folder: StoreFolder, _ userID: UInt32, _ account: AccountName
    ) throws(Failure) -> Keychain {
        try shared.vaults.open(
            folder, StoreIdentity(tier: shared.tier, userID: userID, account: account), clock: shared.clock,
            random: shared.random)
    }

    /// Whether the process must not exit while it has no connections, because it holds a key derived from a passcode.
    var mustStay: Bool { services.all.contains { $0.service.mustStay } }

    /// Frees the memory of all stores that only makes later reads faster, on the queue for background work.
    func releaseMemory() {
        background.submit(.any) { [weak self] in
            guard let self else { return }
            for opened in services.all { opened.service.releaseMemory() }
            ProcessProtection.returnFreedMemory()
        }
    }

    /// Stops all services, also those that are being opened.
    func stop() { for opened in services.stop() { opened.service.stop() } }
}
