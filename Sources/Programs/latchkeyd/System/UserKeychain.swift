// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import Glibc
import LatchkeyIdentity
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeySystem
import Synchronization
import SystemDriver

/// The keychain of the user whose process this is, in a system tier: a folder, a store and a service. The store is opened
/// when the first program connects.
final class UserKeychain: Sendable {
    /// What the service is made of.
    struct Parts: Sendable {
        var userID: UInt32
        var tier: Tier
        var folder: StoreFolder
        var lock: UserFolder
        var vaults: StoreVaults
        var modules: KeyModules
        var acceptsVirtual: Bool
        var link: AuthorityLink
        var clock: any Clock
        var random: any RandomSource
        var log: any EventLog
        var unlockedMemory: @Sendable () -> String?
        /// Determines the access groups of items from the user's own store.
        var groups: InstalledGroups
        /// Whether a short write may block the thread that serves connections: no other program waits.
        var mayWriteHere: @Sendable () -> Bool
    }

    private let parts: Parts
    private let stretching = StretchThreads(threads: 1)
    private let background = SerialWorkQueue { false }
    /// Runs the operations of a key module that waits for a device; nil for one that only computes.
    private let keyWork: SerialWorkQueue?
    /// The service, and the account to which the user's number belonged when it was opened.
    private struct Opened: Sendable {
        var account: AccountName
        var service: Service
        /// Whether the store was refused because it belongs to an earlier account of this number. It is opened again when
        /// the number belongs to that account again.
        var isOfAnotherAccount: Bool
    }
    private struct State: Sendable {
        var opened: Opened?
        var isStopped = false
    }
    private let state = Mutex(State())
    private static let stopping = Failure(.daemonUnavailable, "latchkeyd is stopping.", hint: "Try again.")

    init(_ parts: Parts) {
        self.parts = parts
        keyWork = parts.modules.needsThread ? SerialWorkQueue { false } : nil
    }

    /// Returns the service, and opens the store first if necessary. Blocks; called on one thread at a time.
    func service() throws(Failure) -> Service {
        // Asked for each connection: the account may be deleted, and its number given to another, while this runs.
        let account = try Accounts.name(of: parts.userID)
        let (opened, isStopped) = state.withLock { ($0.opened, $0.isStopped) }
        guard !isStopped else { throw Self.stopping }
        if let opened, opened.account == account || !opened.isOfAnotherAccount {
            guard opened.account == account else {
                throw Failure.storeOfEarlierAccount(
                    "The keychain", parts.userID, stored: opened.account, current: account)
            }
            // The device may be there again.
            if opened.service.isClosedForNow { opened.service.reopen() }
            return opened.service
        }
        opened?.service.stop()
        let new = open(account)
        // The process may have begun to stop while the store was opened. Nothing else would stop this service.
        let isTooLate = state.withLock { state in
            if !state.isStopped { state.opened = new }
            return state.isStopped
        }
        guard !isTooLate else {
            new.service.stop()
            throw Self.stopping
        }
        new.service.beginStoreCheck()
        return new.service
    }

    /// A store that cannot be opened now has a service too, with which its recovery code can be entered.
    private func open(_ account: AccountName) -> Opened {
        let (userID, folder) = (parts.userID, parts.folder)
        let recovery = parts.vaults.recovery(folder, userID)
        let authority = RemoteAuthority(userID: userID, link: parts.link, clock: parts.clock, recovery: recovery)
        let keychain = Result { () throws(Failure) in try openKeychain(account) }
        // Requests are refused with this failure until the next attempt succeeds; if the store was damaged, until latchkeyd
        // starts again after the store was restored.
        var isOfAnotherAccount = false
        if case .failure(let failure) = keychain {
            parts.log.record(.storeUnusable, failure)
            isOfAnotherAccount = failure.status == .storeOfEarlierAccount
        }
        var service = Service.Parts(
            tier: parts.tier, userID: userID, storePath: folder.path, processID: getpid(), keychain: keychain,
            authority: authority, clock: parts.clock, random: parts.random,
            work: SerialWorkQueue(mayWorkHere: parts.mayWriteHere), stretching: stretching,
            background: background, keyWork: keyWork, keyModule: parts.modules.module,
            earlierKeyModules: parts.modules.earlier,
            mapGroup: { [groups = parts.groups] (group) throws(Failure) in
                try groups.target(of: group, userID: userID)
            },
            acceptsVirtual: parts.acceptsVirtual, log: parts.log, unlockedMemory: parts.unlockedMemory)
        service.recovery = recovery
        service.secretCallers = IdentifiedSecretCallers(link: parts.link)
        // Weak: the services belong to this object, whose end closes the databases.
        service.reopen = { [weak self] in
            Result { () throws(Failure) in
                guard let self, !self.state.withLock({ $0.isStopped }) else { throw Self.stopping }
                return try self.openKeychain(account)
            }
        }
        return Opened(account: account, service: Service(service), isOfAnotherAccount: isOfAnotherAccount)
    }

    private func openKeychain(_ account: AccountName) throws(Failure) -> Keychain {
        try parts.lock.take()
        return try parts.vaults.open(
            parts.folder, StoreIdentity(tier: parts.tier, userID: parts.userID, account: account), clock: parts.clock,
            random: parts.random)
    }

    /// Whether the process must not end while it has no connections, because it holds a key derived from a passcode.
    var mustStay: Bool { state.withLock { $0.opened }?.service.mustStay ?? false }

    /// Frees the memory of the store that only makes later reads faster, on the queue for background work.
    func releaseMemory() {
        background.submit(.any) { [weak self] in
            guard let self else { return }
            state.withLock { $0.opened }?.service.releaseMemory()
            ProcessProtection.returnFreedMemory()
        }
    }

    /// Stops the service, also one that is being opened.
    func stop() {
        let opened = state.withLock { state in
            state.isStopped = true
            return state.opened
        }
        opened?.service.stop()
    }
}
