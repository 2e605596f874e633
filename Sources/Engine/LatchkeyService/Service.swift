// SPDX-License-Identifier: Apache-2.0

package import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

/// The logic of the daemon of one store, without input and output.
///
/// It exists apart from `latchkeyd` so that the daemon and the simulator run the same code: everything outside is
/// behind a seam in `Parts`. Each connection gets a `Session`, which handles its requests. The authority decides about
/// authentication; it is in this process or in `latchkey-authd`. The keychain reads and writes items and requires
/// proofs for them.
///
/// The service connects these parts: it passes a change of the enrolment set, the lock or the passcode from one to the
/// other. It revokes the proofs of all sessions when the authority requires that. Without a keychain it still answers:
/// each request that needs one fails with the reason.
package final class Service: Sendable {
    /// The dependencies of the service. The drivers behind the seams are chosen by the daemon and by the simulator.
    package struct Parts: Sendable {
        package var tier: Tier
        package var userID: UInt32
        /// Whether proofs by virtual hardware are accepted: in tier `simulated`, and where an administrator allows it.
        package var acceptsVirtual: Bool
        package var storePath: String
        package var processID: Int32
        /// The keychain, or the failure with which every request that needs it is refused.
        package var keychain: Result<Keychain, Failure>
        package var authority: any AuthenticationAuthority
        package var clock: any Clock
        package var random: any RandomSource
        package var work: any WorkQueue
        package var stretching: any StretchQueue
        package var background: any WorkQueue
        /// Runs the operations of a key module that is not `isImmediate`.
        package var keyWork: any WorkQueue
        package var sessions: (any SessionMonitor)?
        /// The implementation of the Secure Enclave; nil if there is none.
        package var keyModule: (any KeyModule)?
        /// Implementations that made keys which the store may have.
        package var earlierKeyModules: [any KeyModule]
        /// The system's keychain, to which this store can be moved; nil for a store that cannot be moved.
        package var moveDestination: (any MoveDestination)?
        /// The recovery of the root key; nil in tiers without one.
        package var recovery: (any RecoverableVault)?
        /// Opens the keychain again if it could not be opened, for example after its root key was recovered.
        package var reopen: (@Sendable () -> Result<Keychain, Failure>)?
        /// Returns the access group of this keychain for a group of the user's own store.
        package var mapGroup: @Sendable (String) throws(Failure) -> String
        /// Determines the programs that call the Secret Service; nil where there is none.
        package var secretCallers: (any SecretCallers)?
        /// Logs failures that no reply reports.
        package var log: any EventLog
        /// Returns why secrets in memory may be swapped out; nil if their pages are locked.
        package var unlockedMemory: @Sendable () -> String?

        /// Without `background` and `keyWork`, long work and key operations run on the write queue.
        package init(
            tier: Tier, userID: UInt32, storePath: String, processID: Int32, keychain: Result<Keychain, Failure>,
            authority: any AuthenticationAuthority, clock: any Clock, random: any RandomSource,
            work: any WorkQueue, stretching: any StretchQueue, background: (any WorkQueue)? = nil,
            keyWork: (any WorkQueue)? = nil, sessions: (any SessionMonitor)? = nil,
            keyModule: (any KeyModule)? = nil, earlierKeyModules: [any KeyModule] = [],
            moveDestination: (any MoveDestination)? = nil,
            mapGroup: (@Sendable (String) throws(Failure) -> String)? = nil,
            acceptsVirtual: Bool? = nil,
            log: any EventLog = UnwatchedLog(), unlockedMemory: @escaping @Sendable () -> String? = { nil }
        ) {
            self.tier = tier
            self.userID = userID
            self.acceptsVirtual = acceptsVirtual ?? (tier == .simulated)
            self.storePath = storePath
            self.processID = processID
            self.keychain = keychain
            self.authority = authority
            self.clock = clock
            self.random = random
            self.work = work
            self.stretching = stretching
            self.background = background ?? work
            self.keyWork = keyWork ?? work
            self.sessions = sessions
            self.keyModule = keyModule
            self.earlierKeyModules = earlierKeyModules
            self.moveDestination = moveDestination
            self.mapGroup = mapGroup ?? { _ in "user:\(userID)" }
            self.log = log
            self.unlockedMemory = unlockedMemory
        }
    }

    let parts: Parts
    /// What depends on the keychain; replaced when a keychain that could not be opened is opened.
    struct Opened: Sendable {
        var keychain: Result<Keychain, Failure>
        var enclave: Enclave?
        var maintenance: StoreMaintenance?
    }
    private let opened: Mutex<Opened>
    private let reopening = Mutex<Void>(())
    let environments: EnvironmentWatch
    let preparations: KeyPreparations
    let backups = BackupCount()
    /// Whether the challenge of a relying party is being answered.
    let isAnsweringChallenge = Atomic(false)
    let tickets = MigrationTickets()
    let secretPrompts: SecretPrompts
    /// Logs refusals that cannot be recorded: without a keychain any program can cause them again and again.
    let unrecorded: RareEvents<Status>
    let evaluations = Atomic<UInt64>(0)

    /// The keychain, or the failure with which every request that needs it is refused.
    package var keychain: Result<Keychain, Failure> { opened.withLock { $0.keychain } }
    var enclave: Enclave? { opened.withLock { $0.enclave } }
    var maintenance: StoreMaintenance? { opened.withLock { $0.maintenance } }

    var authority: any AuthenticationAuthority { parts.authority }

    package init(_ parts: Parts) {
        self.parts = parts
        environments = EnvironmentWatch(parts.random)
        secretPrompts = SecretPrompts(parts.clock)
        preparations = KeyPreparations(parts.authority, on: parts.keyWork)
        unrecorded = RareEvents(parts.log, clock: parts.clock)
        opened = Mutex(Self.opened(parts.keychain, parts))
        attach()
        authority.observe { [weak self] in
            guard let self else { return }
            environments.apply(authority.state)
            preparations.promptsChanged()
        }
        environments.apply(authority.state)
        parts.sessions?.observeSession { [weak self] event, done in
            self?.apply(event)
            done()
        }
    }

    private static func opened(_ keychain: Result<Keychain, Failure>, _ parts: Parts) -> Opened {
        // If the store did not open, every request that needs it fails with that error (`Session.keychain`), and the
        // service starts without a keychain.
        let known = try? keychain.get()
        let enclave = parts.keyModule.map {
            // Without a keychain no key is used; the requests fail before.
            Enclave(
                $0, earlier: parts.earlierKeyModules, approver: parts.authority,
                storeID: known?.tree.header.storeID ?? [])
        }
        return Opened(keychain: keychain, enclave: enclave, maintenance: known.map { StoreMaintenance($0, parts) })
    }

    /// Attaches the authority to the keychain, and observes both.
    private func attach() {
        // Without a keychain the service has nothing to observe; requests fail with its failure.
        let keychain = try? self.keychain.get()
        keychain?.whenDamaged { [work = parts.work, log = parts.log, weak keychain] in
            guard let keychain else { return }
            // A row that cannot be moved now is found again by the next search.
            work.submit(.any) {
                log.recording(.damagedRowsNotMoved) { () throws(Failure) in try keychain.quarantineDamaged() }
            }
        }
        let isLocked = keychain.map { restoreLock($0) } ?? false
        authority.attach(self, isPasscodeSet: keychain?.isPasscodeSet ?? false, isLocked: isLocked)
        maintenance?.start(authority.state.counters)
    }

    /// Whether the keychain could not be opened, and the next attempt may succeed.
    package var isClosedForNow: Bool {
        guard case .failure(let failure) = keychain else { return false }
        return [.vaultUnavailable, .enclaveUnavailable].contains(failure.status)
    }

    /// Opens a keychain that could not be opened. Does nothing if it is open.
    package func reopen() {
        guard let reopen = parts.reopen else { return }
        // Two keychains of one store must never exist: the second one would undo what the first one has begun.
        let isOpened = reopening.withLock { _ in
            guard case .failure = keychain else { return false }
            let keychain = reopen()
            opened.withLock { $0 = Self.opened(keychain, parts) }
            if case .success = keychain { return true } else { return false }
        }
        guard isOpened else { return }
        attach()
        beginStoreCheck()
    }

    /// Applies the stored lock state and returns whether the device is locked.
    private func restoreLock(_ keychain: Keychain) -> Bool {
        // If the lock state cannot be read, the device counts as locked.
        let lock =
            parts.log.recording(.recordNotRead) { () throws(Failure) in try keychain.storedLock() }
            ?? LockState(isLocked: true, wasUnlocked: false)
        keychain.tree.apply(lock)
        return lock.isLocked
    }

    private func apply(_ event: SessionEvent) {
        // Another user's session must neither lock nor unlock this user's keychain.
        guard event.user == nil || event.user == parts.userID else { return }
        switch event.change {
        case .locked: lock()
        case .unlocked(let byBiometry): unlock(byBiometry: byBiometry)
        case .background(let isBehind): authority.report(.background(isBehind), then: nil)
        case .ended:
            applySessionLock(isLocked: true)
            applySessionLock(isLocked: false)
        case .changed:
            guard let state = parts.sessions?.sessions(of: parts.userID) else { return }
            authority.report(.biometrySessions(state.biometry), then: nil)
            applySessionLock(isLocked: state.isLocked)
        }
    }

    /// A reference to a session whose proofs a lock revokes.
    private struct WeakSession: Sendable { weak var session: Session? }
    /// Whether the keychain is locked only because login sessions are. Such a lock is not stored: the authority reports it
    /// again when the service starts.
    let isSessionLock = Mutex(false)
    /// The programs of which an agent was told that they did not get an item since the keychain was locked.
    let refusedWhileLocked = Mutex<Set<String>>([])
    private let sessionCount = Atomic<UInt64>(0)
    private let sessionList = Mutex<[WeakSession]>([])

    var sessions: [Session] { sessionList.withLock { $0.compactMap(\.session) } }

    func forgetProofs() { for session in sessions { session.forgetProofs() } }

    /// - Returns: whether there was one.
    @discardableResult
    func withdrawGrants(where isWithdrawn: (SecretGrant) -> Bool) -> Bool {
        sessions.reduce(false) { $1.withdrawGrants(where: isWithdrawn) || $0 }
    }

    /// Starts to compare all rows with the set hash, in the background. A large store is compared only until its anchor
    /// is first written after a boot, a small one at every start.
    package func beginStoreCheck() { maintenance?.checkRowsAtStart(enclave) }

    /// Seals the items for the passcode that were added before it was set.
    func sealForPasscode() { maintenance?.sealForPasscode(enclave) }

    /// Stores gathered refusals and reads, and advances the store generation, before the daemon exits.
    package func stop() { maintenance?.stop() }

    /// Creates the session of an identified caller that has sent hello.
    ///
    /// - Parameters:
    ///   - mayNameItself: whether the names and access groups of `hello` are used (tiers `user` and `simulated`).
    ///   - hello: the first request of the connection; its names apply for the whole session.
    ///   - whenRoom: calls its argument once, when the client has received most of what was sent; at once if nothing
    ///     is queued.
    package func session(
        caller: Caller, terminal: UInt64, mayNameItself: Bool, hello: Request.Hello,
        whenRoom: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
    ) -> Session {
        var caller = caller
        if mayNameItself { caller.take(hello) }
        // Only calls of the Secret Service reach its items, and each of them has a session of its own.
        caller.groups.removeAll { $0.hasBytes(of: SecretService.group) }
        caller.terminal = terminal
        return add(caller, hello.faceUsage, PageLine(whenRoom: whenRoom))
    }

    /// Creates the session of a program for one call of the Secret Service.
    func session(of program: AskingProgram, _ pages: PageLine) -> Session {
        add(program.caller, nil, pages, isDelegate: true)
    }

    private func add(
        _ caller: Caller, _ faceUsage: String?, _ pages: PageLine, isDelegate: Bool = false
    ) -> Session {
        var caller = caller
        caller.session = sessionCount.add(1, ordering: .relaxed).newValue
        let session = Session(service: self, caller: caller, faceUsage: faceUsage, pages: pages, isDelegate: isDelegate)
        sessionList.withLock { list in
            list.removeAll { $0.session == nil }
            list.append(WeakSession(session: session))
        }
        return session
    }

    /// Whether the process must not exit while it has no connections, because it holds the key derived from the
    /// passcode.
    package var mustStay: Bool {
        if case .success(let keychain) = self.keychain { keychain.tree.holdsPasscodeKey } else { false }
    }

    /// Sets the face permission of an app, or deletes it with nil so that the app asks again.
    ///
    /// - Parameter done: called when the change is durable and in force, or with the failure.
    package func setFacePermission(
        _ application: String, _ isAllowed: Bool?, _ done: @escaping @Sendable (Failure?) -> Void = { _ in }
    ) {
        authority.setFacePermission(application, isAllowed, done)
    }

    /// Frees the memory of the store that only makes later reads faster. Blocks while a read or a write is under way.
    package func releaseMemory() { if case .success(let keychain) = keychain { keychain.releaseMemory() } }

    // MARK: - Requests without session state

    func status(_ caller: Caller) -> StatusReport {
        let state = authority.state
        var report = StatusReport(
            tier: parts.tier, processID: parts.processID, storePath: parts.storePath, itemCount: 0,
            biometry: state.sensor.kind, isEnrolled: state.sensor.enrolment != nil,
            isPasscodeSet: state.isPasscodeSet, isBiometryLocked: state.isBiometryLocked, isLocked: state.isLocked,
            accessGroup: caller.groups.first ?? "", problem: nil, enclave: parts.keyModule?.kind,
            enclaveDevice: parts.keyModule?.device, deviceProblem: parts.keyModule?.deviceProblem,
            unlockedMemory: parts.unlockedMemory(),
            prompts: authority.shownPrompts, session: caller.loginSession, passcodeKind: authority.passcodeKind,
            isBiometryVirtual: state.sensor.isVirtual)
        do throws(Failure) {
            let keychain = try self.keychain.get()
            report.itemCount = UInt64(clamping: try keychain.itemCount())
            report.quarantineCount = UInt64(clamping: try keychain.quarantineCount())
            try keychain.checkReadable()
            if maintenance?.foundOtherRows == true {
                report.problem = Failure(
                    .storeUnreadable, "Rows of the store were put back, changed or removed by another program.",
                    hint: "See: latchkey check")
            }
        } catch {
            report.problem = error
        }
        return report
    }

    /// The refusal of requests that exist only in tier `simulated`, where they do not reach the service.
    var simulatesNothing: Failure {
        Failure(
            .notPermitted, "This daemon runs in tier \(parts.tier.name) and simulates nothing.",
            hint: "Start a simulated one in a folder of its own: latchkey sim start")
    }
}

extension Caller {
    /// Adopts the names and access groups that the app gives itself, except the group of smart cards
    /// (`com.apple.token`), which is read-only on Apple systems (behaviour KC-16).
    fileprivate mutating func take(_ hello: Request.Hello) {
        guard !hello.application.isEmpty else { return }
        application = hello.application
        isSelfNamed = true
        groups = []
        for group in hello.groups.isEmpty ? [hello.application] : hello.groups
        where !group.isEmpty && group != "com.apple.token" && !groups.containsBytes(of: group) {
            groups.append(group)
        }
    }
}
