// SPDX-License-Identifier: Apache-2.0

import LatchkeyEnclave
package import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

/// The daemon's logic without input and output: sessions handle requests, the policy reducer decides about
/// authentication, and the keychain reads and writes items.
package final class Service: Sendable {
    /// The dependencies of the service. The drivers behind the seams are chosen by the daemon and by the simulator.
    package struct Parts: Sendable {
        package var tier: Tier
        package var storePath: String
        package var processID: Int32
        /// The keychain, or the failure with which every request that needs it is refused.
        package var keychain: Result<Keychain, Failure>
        package var reader: any BiometricReader
        package var prompter: any Prompter
        package var clock: any Clock
        package var random: any RandomSource
        package var work: any WorkQueue
        /// Runs key stretching.
        package var stretching: any StretchQueue
        /// Runs long work that writes nothing.
        package var background: any WorkQueue
        /// Runs the operations of a key module that is not `isImmediate`.
        package var keyWork: any WorkQueue
        package var controls: (any SimulatedControls)?
        package var companions: (any CompanionMonitor)?
        package var sessions: (any SessionMonitor)?
        /// The implementation of the Secure Enclave; nil if there is none.
        package var keyModule: (any KeyModule)?
        /// Called at the end of each evaluation.
        package var ended: (@Sendable (EvaluationEnd) -> Void)?
        /// Logs failures that no reply reports.
        package var log: any EventLog
        /// Returns why secrets in memory may be swapped out; nil if their pages are locked.
        package var unlockedMemory: @Sendable () -> String?

        /// Creates a value from its parts; without `background` and `keyWork`, long work and key operations run on the
        /// write queue.
        package init(
            tier: Tier, storePath: String, processID: Int32, keychain: Result<Keychain, Failure>,
            reader: any BiometricReader, prompter: any Prompter, clock: any Clock, random: any RandomSource,
            work: any WorkQueue, stretching: any StretchQueue, background: (any WorkQueue)? = nil,
            keyWork: (any WorkQueue)? = nil, controls: (any SimulatedControls)?,
            companions: (any CompanionMonitor)? = nil,
            sessions: (any SessionMonitor)? = nil, keyModule: (any KeyModule)? = nil,
            ended: (@Sendable (EvaluationEnd) -> Void)? = nil,
            log: any EventLog = UnwatchedLog(), unlockedMemory: @escaping @Sendable () -> String? = { nil }
        ) {
            self.tier = tier
            self.storePath = storePath
            self.processID = processID
            self.keychain = keychain
            self.reader = reader
            self.prompter = prompter
            self.clock = clock
            self.random = random
            self.work = work
            self.stretching = stretching
            self.background = background ?? work
            self.keyWork = keyWork ?? work
            self.controls = controls
            self.companions = companions
            self.sessions = sessions
            self.keyModule = keyModule
            self.ended = ended
            self.log = log
            self.unlockedMemory = unlockedMemory
        }
    }

    let parts: Parts
    let enclave: Enclave?
    let authenticator: Authenticator
    let environments: EnvironmentWatch
    let backups = BackupCount()
    private let sensorAlarm = Mutex<(any Alarm)?>(nil)
    let keeper: StoreKeeper?

    /// Starts the service with the stored counters, lock state and face permissions.
    package init(_ parts: Parts) {
        self.parts = parts
        environments = EnvironmentWatch(parts.random)
        enclave = parts.keyModule.map { Enclave($0) }
        // If the store did not open, every request that needs it fails with that error (`Session.keychain`), and the
        // service starts without a keychain.
        let keychain = try? parts.keychain.get()
        let keeper = keychain.map { StoreKeeper($0, parts) }
        self.keeper = keeper
        var state = PolicyState(
            sensor: parts.reader.state, isPasscodeSet: keychain?.isPasscodeSet ?? false)
        if let keychain { Service.restore(&state, keychain, parts) }
        authenticator = Authenticator(
            state: state,
            parts: Authenticator.Parts(
                tier: parts.tier, reader: parts.reader, prompter: parts.prompter, clock: parts.clock,
                work: parts.work, stretching: parts.stretching, controls: parts.controls, ended: parts.ended,
                verify: { (typed) throws(Failure) in
                    let keychain = try parts.keychain.get()
                    let wasLocked = keychain.tree.lockState.isLocked
                    let passcode = parts.controls?.passcode(for: typed) ?? typed
                    guard try keychain.unlock(passcode) else {
                        keeper?.passcodeWasWrong()
                        return false
                    }
                    // If the device was locked during the verification, remove the key that the verification unlocked.
                    let lock = keychain.tree.lockState
                    if lock.isLocked, !wasLocked { keychain.tree.follow(lock) }
                    parts.controls?.learn(passcode)
                    return true
                },
                keep: { (counters) throws(Failure) in
                    do throws(Failure) {
                        try parts.keychain.get().keep(counters)
                    } catch {
                        parts.log.note(.countersNotKept, error)
                        throw error
                    }
                    keeper?.follow(counters)
                },
                keepPermissions: { [log = parts.log] permissions in
                    // A decision that cannot be stored applies until the daemon ends; then the app asks again.
                    log.noting(.facePermissionsNotKept) { () throws(Failure) in
                        try keychain?.keep(facePermissions: permissions)
                    }
                }))
        keychain?.whenDamaged { [work = parts.work, log = parts.log, weak keychain] in
            guard let keychain else { return }
            // A row that cannot be moved now is found again by the next search.
            work.submit(.any) {
                log.noting(.damagedRowsNotMoved) { () throws(Failure) in try keychain.quarantineDamaged() }
            }
        }
        keeper?.start(authenticator.state.counters)
        followSensor()
        parts.reader.observe { [weak self] in self?.followSensor() }
        authenticator.observe { [weak self] in self.map { $0.environments.follow($0.authenticator.state) } }
        environments.follow(authenticator.state)
        parts.sessions?.observeSession { [weak self] in self?.follow($0) }
    }

    private static func restore(_ state: inout PolicyState, _ keychain: Keychain, _ parts: Parts) {
        // If the lock state cannot be read, the device counts as locked.
        let lock =
            parts.log.noting(.recordNotRead) { () throws(Failure) in try keychain.keptLock() }
            ?? LockState(isLocked: true, wasUnlocked: false)
        keychain.tree.follow(lock)
        state.isLocked = lock.isLocked
        // Face permissions that cannot be read count as undecided, so that the user is asked again.
        state.facePermissions =
            parts.log.noting(.recordNotRead) { () throws(Failure) in try keychain.keptFacePermissions() } ?? [:]
        let now = parts.clock.uptime
        state.now = now
        // Without counters of this boot, the passcode was not entered since the machine started.
        state.lastPasscode = nil
        do throws(Failure) {
            if let (counters, isOfThisBoot) = try keychain.keptCounters() {
                state.biometryFailures = counters.biometryFailures
                state.passcodeFailures = counters.passcodeFailures
                state.lastPasscode = isOfThisBoot ? counters.lastPasscode : nil
                state.lastBiometry = isOfThisBoot ? counters.lastBiometry : nil
                // The boot-time clock restarts with the machine, so the whole delay begins again; a restart never
                // shortens it.
                state.passcodeBlockedUntil =
                    isOfThisBoot
                    ? counters.passcodeBlockedUntil
                    : now + PolicyState.passcodeDelay(afterFailures: counters.passcodeFailures)
                return
            }
        } catch {
            // Unreadable counters are treated like missing ones below.
        }
        // Counters are stored before the first passcode, so only a store without a passcode may have none.
        guard state.isPasscodeSet else { return }
        // Prevents an attacker who edits the file from gaining tries by changing or deleting the counters.
        state.useUpTries(at: now)
        // If this cannot be stored, the maximum counts apply in memory and are assumed again at each start.
        parts.log.noting(.countersNotKept) { () throws(Failure) in
            try keychain.keep(state.counters)
            try keychain.record(.countersLost, caller: nil)
        }
    }

    /// Stores the sensor's current enrolment set and then reports it to the reducer.
    ///
    /// A new set is reported only when it is durable: while the old enrolment key may still be on the disk, a finger
    /// of the new set could open items that are bound to the old set. Until then the sensor is reported as absent.
    private func followSensor() {
        var sensor = parts.reader.state
        if sensor.kind != .none, case .success(let keychain) = parts.keychain {
            do throws(Failure) {
                _ = try keychain.follow(sensor.enrolment)
            } catch {
                sensor = .absent
                parts.log.note(.enrolmentNotFollowed, error)
                followSensorLater()
            }
        }
        authenticator.post(.sensorChanged(sensor))
        if let companions = parts.companions { authenticator.post(.companionsChanged(companions.companions)) }
    }

    /// Seconds between two attempts to store an enrolment set.
    private static let followSeconds: Int64 = 10

    private func followSensorLater() {
        let alarm = parts.clock.alarm(after: Self.followSeconds) { [weak self] in self?.followSensor() }
        sensorAlarm.withLock { old in
            old?.cancel()
            old = alarm
        }
    }

    private func follow(_ event: SessionEvent) {
        switch event {
        case .locked: lock()
        case .unlocked(let byBiometry): unlock(byBiometry: byBiometry)
        case .background(let isBehind): authenticator.post(.background(isBehind))
        }
    }

    /// A reference to a session whose proofs a lock revokes.
    private struct WeakSession: Sendable { weak var session: Session? }
    private let sessionCount = Atomic<UInt64>(0)
    private let sessionList = Mutex<[WeakSession]>([])

    /// Revokes all proofs of all sessions.
    func forgetProofs() { for entry in sessionList.withLock({ $0 }) { entry.session?.forgetProofs() } }

    /// Starts to compare all rows with the set hash, in the background. A large store is compared only until its anchor
    /// is first written after a boot, a small one at every start.
    package func beginStoreCheck() { keeper?.checkRowsAtStart() }

    /// Stores gathered refusals and advances the store generation, before the daemon exits.
    package func stop() { keeper?.stop() }

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
        caller.session = sessionCount.add(1, ordering: .relaxed).newValue
        let session = Session(
            service: self, caller: caller, faceUsage: hello.faceUsage, terminal: terminal, whenRoom: whenRoom)
        sessionList.withLock { list in
            list.removeAll { $0.session == nil }
            list.append(WeakSession(session: session))
        }
        return session
    }

    /// Whether the process must not exit while it has no connections, because it holds the key derived from the
    /// passcode.
    package var mustStay: Bool {
        if case .success(let keychain) = parts.keychain { keychain.tree.holdsPasscodeKey } else { false }
    }

    /// Sets the face permission of an app, or deletes it with nil so that the app asks again.
    package func setFacePermission(_ application: String, _ isAllowed: Bool?) {
        authenticator.post(.permissionChanged(application, isAllowed))
    }

    // MARK: - Requests without session state

    func status(_ caller: Caller) -> StatusReport {
        let state = authenticator.state
        var report = StatusReport(
            tier: parts.tier, processID: parts.processID, storePath: parts.storePath, itemCount: 0,
            biometry: state.sensor.kind, isEnrolled: state.sensor.enrolment != nil,
            isPasscodeSet: state.isPasscodeSet, isBiometryLocked: state.isBiometryLocked, isLocked: state.isLocked,
            accessGroup: caller.groups.first ?? "", problem: nil, enclave: parts.keyModule?.kind,
            unlockedMemory: parts.unlockedMemory(),
            prompt: state.active.map { evaluation in
                StatusReport.ShownPrompt(
                    program: evaluation.request.caller.label, processID: evaluation.request.caller.processID)
            })
        do throws(Failure) {
            let keychain = try parts.keychain.get()
            report.itemCount = UInt64(clamping: try keychain.itemCount())
            report.quarantineCount = UInt64(clamping: try keychain.quarantineCount())
            try keychain.checkReadable()
            if keeper?.foundOtherRows == true {
                report.problem = Failure(
                    .storeUnreadable, "Rows of the store were put back, changed or removed by another program.",
                    hint: "See: latchkey check")
            }
        } catch {
            report.problem = error
        }
        return report
    }

    func simulate(_ command: SimulatorCommand) throws(Failure) -> Reply {
        guard parts.tier == .simulated, let controls = parts.controls else {
            throw Failure(
                .notPermitted, "This daemon runs in tier \(parts.tier.name) and simulates nothing.",
                hint: "Start a simulated one in a folder of its own: latchkey sim start")
        }
        let delivered = try controls.apply(command)
        if case .touch = command { return .simulated(delivered: delivered) }
        // Allows a script to read the recovery code that a user would read from the prompt; this tier protects no
        // secrets.
        if case .tellCode = command {
            return .transcript(
                controls.shownRecoveryCode.map { [$0.withBytes { String(decoding: $0, as: UTF8.self) }] } ?? [])
        }
        return .done
    }

    func transcript() throws(Failure) -> Reply {
        guard let controls = parts.controls else {
            throw Failure(.notPermitted, "This daemon simulates nothing, so it has no transcript.")
        }
        return .transcript(controls.transcript.suffix(Limits.transcriptLines))
    }
}

extension Caller {
    /// Adopts the names and access groups that the app gives itself, except the group of smart cards
    /// (`com.apple.token`), which is read-only on Apple systems (behaviour KC-16).
    fileprivate mutating func take(_ hello: Request.Hello) {
        guard !hello.application.isEmpty else { return }
        application = hello.application
        groups = []
        for group in hello.groups.isEmpty ? [hello.application] : hello.groups
        where !group.isEmpty && group != "com.apple.token" && !groups.contains(group) {
            groups.append(group)
        }
    }
}
