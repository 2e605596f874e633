// SPDX-License-Identifier: Apache-2.0

import LatchkeyEnclave
package import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

/// One daemon's work, without its input and output: sessions ask, policy decides, the keychain acts.
package final class Service: Sendable {
    /// What the service stands on. Each part is a seam; only processes and the simulator name drivers.
    package struct Parts: Sendable {
        package var tier: Tier
        package var storePath: String
        package var processID: Int32
        /// The keychain, or why there is none: every request then gets that answer.
        package var keychain: Result<Keychain, Failure>
        package var reader: any BiometricReader
        package var prompter: any Prompter
        package var clock: any Clock
        package var random: any RandomSource
        package var work: any WorkQueue
        /// Runs key stretching.
        package var stretching: any StretchQueue
        /// Runs what takes long and writes nothing.
        package var background: any WorkQueue
        package var controls: (any SimulatedControls)?
        package var companions: (any CompanionMonitor)?
        package var sessions: (any SessionMonitor)?
        /// What stands for the Secure Enclave, if anything does.
        package var keyModule: (any KeyModule)?
        /// Told of the end of each evaluation.
        package var ended: (@Sendable (EvaluationEnd) -> Void)?
        /// Where failures are written down that no caller is told of.
        package var log: any EventLog
        /// Why secrets in memory may be swapped out; nil: they may not.
        package var unlockedMemory: @Sendable () -> String?

        /// Collects the parts.
        package init(
            tier: Tier, storePath: String, processID: Int32, keychain: Result<Keychain, Failure>,
            reader: any BiometricReader, prompter: any Prompter, clock: any Clock, random: any RandomSource,
            work: any WorkQueue, stretching: any StretchQueue, background: (any WorkQueue)? = nil,
            controls: (any SimulatedControls)?,
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

    /// Starts the service; counters and the enrolled set are taken up as they were kept.
    package init(_ parts: Parts) {
        self.parts = parts
        environments = EnvironmentWatch(parts.random)
        enclave = parts.keyModule.map { Enclave($0) }
        // A store that did not open refuses each request by its own error (`Session.keychain`); what follows begins without it.
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
                    // A lock that came meanwhile wiped the key: it does not come back.
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
                    // The answer at a prompt that cannot be stored holds until the daemon ends; then the app asks again.
                    log.noting(.facePermissionsNotKept) { () throws(Failure) in
                        try keychain?.keep(facePermissions: permissions)
                    }
                }))
        keychain?.whenDamaged { [work = parts.work, log = parts.log, weak keychain] in
            guard let keychain else { return }
            // What cannot be moved now is met again by the next search.
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
        // A lock that cannot be read counts as locked.
        let lock =
            parts.log.noting(.recordNotRead) { () throws(Failure) in try keychain.keptLock() }
            ?? LockState(isLocked: true, wasUnlocked: false)
        keychain.tree.follow(lock)
        state.isLocked = lock.isLocked
        // Answers that were tampered with count as never given: the person is asked again.
        state.facePermissions =
            parts.log.noting(.recordNotRead) { () throws(Failure) in try keychain.keptFacePermissions() } ?? [:]
        let now = parts.clock.uptime
        state.now = now
        // After a restart, and before anything was kept, nobody has proven anything.
        state.lastPasscode = nil
        do throws(Failure) {
            if let (counters, isOfThisBoot) = try keychain.keptCounters() {
                state.biometryFailures = counters.biometryFailures
                state.passcodeFailures = counters.passcodeFailures
                state.lastPasscode = isOfThisBoot ? counters.lastPasscode : nil
                state.lastBiometry = isOfThisBoot ? counters.lastBiometry : nil
                // Another boot has another clock: the whole delay begins again, so that a restart never shortens it.
                state.passcodeBlockedUntil =
                    isOfThisBoot
                    ? counters.passcodeBlockedUntil
                    : now + PolicyState.passcodeDelay(afterFailures: counters.passcodeFailures)
                return
            }
        } catch {
            // What cannot be read is worth as much as what was taken out.
        }
        // Counters are kept before the first passcode is: only a store without one has none.
        guard state.isPasscodeSet else { return }
        // Otherwise an editor of the file would give himself new tries by changing or deleting one record.
        state.useUpTries(at: now)
        // Where this cannot be written, the tries are used up in memory, and again at each start: it fails closed.
        parts.log.noting(.countersNotKept) { () throws(Failure) in
            try keychain.keep(state.counters)
            try keychain.record(.countersLost, caller: nil)
        }
    }

    /// Follows what the sensor has enrolled now. A new set is announced only once it is durable: while the old enrolment
    /// key may still be on the disk, a finger of the new set would open items that are bound to the old one.
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

    /// Seconds between two tries to make an enrolment set durable.
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

    /// Sessions that may hold proofs; a lock ends them all.
    private struct WeakSession: Sendable { weak var session: Session? }
    private let sessionCount = Atomic<UInt64>(0)
    private let sessionList = Mutex<[WeakSession]>([])

    /// Drops what every context has proven.
    func forgetProofs() { for entry in sessionList.withLock({ $0 }) { entry.session?.forgetProofs() } }

    /// Begins to compare all rows with the set hash, in the background: in a small store at every start, in a large one once
    /// a boot.
    package func beginStoreCheck() { keeper?.checkRowsAtStart() }

    /// Writes what a clean stop writes.
    package func stop() { keeper?.stop() }

    /// Begins a session for a caller that the process has identified and that has said hello.
    ///
    /// - Parameters:
    ///   - mayNameItself: whether the caller names itself and its access groups (tiers `user` and `simulated`).
    ///   - hello: the first request of the connection; the session keeps its names to its end.
    ///   - whenRoom: calls what it is given once, as soon as the client has taken most of what was sent to it; at once
    ///     where nothing is queued.
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

    /// Whether the process has to go on although nobody is connected.
    package var mustStay: Bool {
        if case .success(let keychain) = parts.keychain { keychain.tree.holdsPasscodeKey } else { false }
    }

    /// Sets what an app was told about faces, or forgets it with nil.
    package func setFacePermission(_ application: String, _ isAllowed: Bool?) {
        authenticator.post(.permissionChanged(application, isAllowed))
    }

    // MARK: - What does not belong to a session

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
                    .storeUnreadable, "Rows of the store were put back, changed or taken out by another program.",
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
        // A script reads the code where a person would: on the prompt, which protects nothing in this tier.
        if case .tellCode = command {
            return .transcript(
                controls.shownRecoveryCode.map { [$0.withBytes { String(decoding: $0, as: UTF8.self) }] } ?? [])
        }
        return .done
    }

    func transcript() throws(Failure) -> Reply {
        guard let controls = parts.controls else {
            throw Failure(.notPermitted, "This daemon simulates nothing, so it keeps no transcript.")
        }
        return .transcript(controls.transcript.suffix(Limits.transcriptLines))
    }
}

extension Caller {
    /// Takes over how an app names itself and its access groups. No app is in the group of smart cards, which is read-only on
    /// Apple systems (behaviour KC-16).
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
