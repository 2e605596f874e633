// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import LatchkeyAuthority
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeyWire
import SQLiteDriver
import SimulatedDriver
import Synchronization
import SystemDriver
import TPMDriver
import TestSupport
import Testing

@testable import AuthorityDaemon

/// Both services of tier `file`, or of tier `tpm` with a software TPM, in one process: they exchange the bytes of the service channel, without a socket. The
/// sensor and the prompt are simulated.
final class TwoServices: Sendable {
    static let userID: UInt32 = 1000
    static let process = ProcessName(processID: 77, startTime: 1234, userID: userID)
    static let identity = ProgramIdentity(
        label: "notes", program: "/usr/bin/notes", application: "org.example.notes", groups: ["org.example.notes"],
        strength: .program, terminal: 0, session: "")

    let world: SimulatedWorld
    let clock = VirtualClock()
    let disk: Disk
    let link: AuthorityLink
    let authority: RemoteAuthority
    let service: Service
    let random = SystemRandomSource()
    let sessions = ScriptedSessions()
    /// The log of `latchkey-authd`, which outlives its connections.
    let refusals: RefusalNotices
    private let prompter: any Prompter
    /// What the person sees.
    let seen: SeenPrompter
    private var hasChip: Bool { chip != nil }
    /// The TPM of latchkeyd; nil in tier `file`.
    let chip: TPMChip?
    private let wire = Wire()

    /// What both services have stored; it remains when they end.
    struct Disk: Sendable {
        let store: any ItemStore
        let vault: MemoryKeyVault
        /// The folder of the authority's files, and of a store whose root key is sealed.
        let folder: TemporaryFolder
        /// The store whose root key is sealed.
        var sealed: StoreFolder { StoreFolder(folder.path + "/store") }

        init() throws {
            store = try SQLiteItemStore.inMemory()
            vault = MemoryKeyVault(rootKey: try SystemRandomSource().bytes(32))
            folder = try TemporaryFolder()
        }
    }

    /// What both ends of the channel share.
    final class Wire: Sendable {
        struct State: Sendable {
            var connection: AuthorityConnection?
            var toStore: (@Sendable (SecretBytes) -> Bool)?
            var ended: (@Sendable () -> Void)?
            var isRefusing = false
            /// Whether the process of the app has ended.
            var hasEnded = false
            /// Whether the store says of every passcode that its slot does not open.
            var opensNothing = false
            /// What latchkeyd does with commands for the TPM.
            var carrying: Carrying?
            /// Whether the store fails to replace the slot of a passcode.
            var replacesNothing = false
            /// What runs the work of the user on the next connections of latchkey-authd.
            var work: any WorkQueue = ImmediateWorkQueue()
            /// The frames in both directions, to search and to replay.
            var frames: [SecretBytes] = []
        }
        let state = Mutex(State())
    }

    /// What is virtual, and whether that is accepted.
    struct Hardware: Sendable {
        /// Whether all proofs are virtual.
        var isVirtual = true
        /// Whether the state of the sensor says that it is.
        var sensorIsVirtual = false
        /// Whether matches say that theirs is; nil for what the state says. They differ on a machine with several readers.
        var matchIsVirtual: Bool?
        var isAccepted = true
    }

    /// The sensor of a machine, whose state and matches say whether it is virtual as the test wants.
    private final class LabelledReader: BiometricReader {
        private let reader: any BiometricReader
        private let hardware: Hardware
        init(_ reader: any BiometricReader, _ hardware: Hardware) { (self.reader, self.hardware) = (reader, hardware) }
        func state(for user: UInt32) -> SensorState {
            var state = reader.state(for: user)
            state.isVirtual = hardware.sensorIsVirtual
            return state
        }
        func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
            let isVirtual = hardware.matchIsVirtual ?? hardware.sensorIsVirtual
            reader.arm(evaluation, user: user) { event in
                if case .match(let set, _) = event { events(.match(set, isVirtual: isVirtual)) } else { events(event) }
            }
        }
        func disarm(_ evaluation: UInt64) { reader.disarm(evaluation) }
        func observe(_ changed: @escaping @Sendable () -> Void) { reader.observe(changed) }
    }

    /// Starts the services for the user, who has the account `account`.
    ///
    /// - Parameters:
    ///   - disk: what earlier services have stored; nil for an empty machine.
    ///   - tpm: the TPM of tier `tpm`; nil for tier `file`.
    ///   - sealed: whether the store's root key and counter are in the TPM too.
    ///   - moments: is notified before and after each durable write of a sealed store and of the passcode's records.
    ///   - place: where the TPM is reached; nil for its socket.
    ///   - retainingStore: false if the store of `disk` was removed, and only the files of the authority remain.
    init(
        _ state: WorldState = WorldState(sensor: .touchID, enrolment: [1, 2, 3]), account: String = "ada",
        after earlier: Disk? = nil, retainingStore: Bool = true, passwords: (any AccountPasswords)? = nil,
        firstPasscode: PasscodeKind = .account, tpm: SwitchedTPM? = nil, sealed: Bool = false, moments: Moments? = nil,
        place: (any TPMConnecting)? = nil, hardware: Hardware = Hardware()
    ) throws {
        disk = try earlier ?? Disk()
        let (clock, random) = (clock, random)
        let refusals = RefusalNotices(UnwatchedLog(), clock: clock)
        self.refusals = refusals
        world = SimulatedWorld(state, clock: clock, random: random, user: Self.userID) { _ in }
        let seen = SeenPrompter(ScriptedPrompter(SimulatedPrompter(), world: world))
        (self.seen, prompter) = (seen, seen)
        let name = try #require(AccountName(account))
        let tier: Tier = tpm == nil ? .file : .tpm
        let identity = StoreIdentity(tier: tier, userID: Self.userID, account: name, passcodeCost: 10)
        let stored = retainingStore ? disk : try Disk()
        let chip = tpm.map { TPMChip(place ?? TPMPlace($0.path), clock: clock, random: random) }
        self.chip = chip
        let folder = disk.sealed
        let vault =
            sealed
            ? TPMKeyVault(FileKeyVault(folder), rootKey: folder.rootKey, chip: try #require(chip), owner: [1]) : nil
        if let vault {
            try folder.prepare { () throws(Failure) in
                try random.bytes(32)
            } build: { (path, rootKey) throws(Failure) in
                try identity.create(
                    in: SQLiteItemStore.create(at: path), rootKey: rootKey, generation: vault.createCounters(),
                    random: random)
            } encode: { (key) throws(Failure) in
                try vault.seal(key, .chip, recoveryCode: nil)
            }
        } else if earlier == nil || !retainingStore {
            try identity.create(in: stored.store, vault: stored.vault, random: random)
        }
        let open: @Sendable () -> Result<Keychain, Failure> = {
            Result { () throws(Failure) in
                guard let vault else {
                    return try identity.open(stored.store, vault: stored.vault, clock: clock, random: random)
                }
                return try identity.open(
                    SQLiteItemStore.open(folder.database), vault: moments.map { WatchedVault(vault, $0) } ?? vault,
                    clock: clock, random: random)
            }
        }
        let (wire, world, prompter, path, sessions) = (wire, world, prompter, disk.folder.path, sessions)
        let userAccount = passwords.map { UserAccount(name: name, passwords: $0, firstPasscode: firstPasscode) }
        let carrier = chip.map { LyingCarrier(wire, $0) }
        link = AuthorityLink(clock: clock, work: ImmediateWorkQueue(), log: UnwatchedLog(), carrier: carrier) {
            (received, ended) throws(Failure) in
            try Self.connect(
                wire, world, prompter, sessions, refusals, clock, random, path, name, tier, userAccount, moments,
                hardware, received, ended)
        }
        link.start()
        let recovery = vault.map { vault -> any RecoverableVault in
            let recovery = SealedRecovery(vault, .chip, copy: folder.recoveryCopy)
            return moments.map { WatchedRecovery(recovery: recovery, moments: $0) } ?? recovery
        }
        authority = RemoteAuthority(userID: Self.userID, link: link, clock: clock, recovery: recovery)
        var parts = Service.Parts(
            tier: tier, userID: Self.userID, storePath: "", processID: 1, keychain: open(),
            authority: authority, clock: clock, random: random, work: ImmediateWorkQueue(),
            stretching: ImmediateWorkQueue(), acceptsVirtual: hardware.isAccepted)
        // The nonces of a TPM age by its own clock.
        parts.keyModule = chip.map { TPMEnclave($0, clock: SystemClock(), allowsVirtual: true) }
        parts.recovery = recovery
        if vault != nil { parts.reopen = open }
        service = Service(parts)
    }

    /// Ends the process of the app.
    func endProcess() { wire.state.withLock { $0.hasEnded = true } }

    private static func connect(
        _ wire: Wire, _ world: SimulatedWorld, _ prompter: any Prompter, _ sessions: ScriptedSessions,
        _ refusals: RefusalNotices, _ clock: VirtualClock,
        _ random: SystemRandomSource, _ path: String, _ account: AccountName, _ tier: Tier,
        _ userAccount: UserAccount?, _ moments: Moments?, _ hardware: Hardware,
        _ received: @escaping @Sendable (SecretBytes) -> Bool,
        _ ended: @escaping @Sendable () -> Void
    ) throws(Failure) -> @Sendable (SecretBytes) -> Void {
        guard !wire.state.withLock({ $0.isRefusing }) else { throw Failure(.daemonUnavailable) }
        wire.state.withLock {
            $0.toStore = received
            $0.ended = ended
        }
        let reader: any BiometricReader = LabelledReader(world, hardware)
        var parts = AuthorityConnection.Parts(
            random: random, log: refusals, sessions: sessions, stretching: ImmediateWorkQueue(),
            passcodeCost: 10
        ) { (process) throws(Failure) in
            guard process == Self.process else { throw Failure(.notPermitted, "no such process") }
            return sessions.identity(Self.identity)
        } isRunning: { process in
            process == Self.process && !wire.state.withLock(\.hasEnded)
        } user: { (userID) throws(Failure) in
            let files = try AuthorityFolder(
                "\(path)/\(userID)", userID: userID, account: account, clock: clock, random: SystemRandomSource())
            return UserParts(
                tier: tier, isVirtual: hardware.isVirtual, reader: reader, prompter: prompter, clock: clock,
                work: wire.state.withLock(\.work),
                files: files, passcodes: moments.map { WatchedRecords(files, $0) }, account: userAccount)
        }
        parts.refusals = refusals
        if tier == .tpm {
            parts.passcodeChip = { carrier in
                TPMPasscodeChip(carriedBy: carrier, clock: clock, random: random)
            }
        }
        let connection = try AuthorityConnection(parts) { frame in
            if wire.state.withLock({ $0.opensNothing }),
                case .storeCall(let number, .open)? = try? ServiceMessage(decoding: frame)
            {
                let reply = ServiceMessage.storeReply(number, .opened(false)).encoded()
                _ = wire.state.withLock { $0.connection }?.received(reply)
                return
            }
            if wire.state.withLock({ $0.replacesNothing }),
                case .storeCall(let number, .replaceSlot)? = try? ServiceMessage(decoding: frame)
            {
                let reply = ServiceMessage.storeReply(number, .failure(Failure(.diskFull))).encoded()
                _ = wire.state.withLock { $0.connection }?.received(reply)
                return
            }
            let receive = wire.state.withLock { state in
                state.frames.append(frame)
                return state.toStore
            }
            _ = receive?(frame)
        }
        wire.state.withLock { $0.connection = connection }
        sessions.report.withLock { $0 = { [weak connection] event, done in connection?.apply(event, done) ?? done() } }
        return { frame in
            let connection = wire.state.withLock { state in
                state.frames.append(frame)
                return state.connection
            }
            _ = connection?.received(frame)
        }
    }

    /// The keychain of the user; throws the failure with which every request is refused.
    var keychain: Keychain { get throws(Failure) { try service.keychain.get() } }

    /// Returns a new session of the program.
    func session() -> Session {
        var caller = Caller(
            groups: Self.identity.groups, label: Self.identity.label, program: Self.identity.program,
            processID: Self.process.processID, userID: Self.userID)
        caller.processName = Self.process
        caller.loginSession = sessions.callerSession
        return service.session(
            caller: caller, terminal: 0, mayNameItself: false, hello: Request.Hello(application: ""))
    }

    /// Sends a request and returns a function that returns the replies so far.
    @discardableResult
    func answers(_ session: Session, _ request: Request) -> () -> [Reply] {
        let replies = Recorder<Reply>()
        session.handle(Self.requests.add(1, ordering: .relaxed).newValue, request, replies.add)
        return { replies.all }
    }

    private static let requests = Atomic<UInt64>(0)

    /// Answers a command for the TPM, perhaps with what `pass` returns, which sends it to the TPM.
    typealias Carrying =
        @Sendable (
            _ command: [UInt8], _ pass: ([UInt8]) throws(Failure) -> [UInt8]
        ) throws(Failure) -> [UInt8]

    /// Sets what latchkeyd does with the next commands for the TPM; nil to pass them.
    func carry(_ carrying: Carrying?) { wire.state.withLock { $0.carrying = carrying } }

    /// Makes the store claim of every passcode that its slot does not open.
    func openNothing() { wire.state.withLock { $0.opensNothing = true } }

    /// Makes the store fail to replace the slot of a passcode, as a full disk does.
    func replaceNothing(_ fails: Bool) { wire.state.withLock { $0.replacesNothing = fails } }

    /// Sets what runs the work of the user on the next connections of latchkey-authd.
    func work(on queue: any WorkQueue) { wire.state.withLock { $0.work = queue } }

    /// The authd side of the current connection, for calls that latchkeyd would not make.
    var connection: AuthorityConnection? { wire.state.withLock { $0.connection } }
    var frames: [SecretBytes] { wire.state.withLock { $0.frames } }

    /// Ends the connection as a crash of `latchkey-authd` does; the link connects again when the clock moves.
    func crashAuthority(refusing: Bool = false) {
        let (connection, ended) = wire.state.withLock { state in
            state.isRefusing = refusing
            defer { (state.connection, state.ended, state.toStore) = (nil, nil, nil) }
            return (state.connection, state.ended)
        }
        connection?.disconnected()
        ended?()
    }

    /// Accepts connections again, after `crashAuthority(refusing: true)`.
    func allowConnections() { wire.state.withLock { $0.isRefusing = false } }

    /// Sends a frame to latchkeyd as `latchkey-authd` does.
    func sendToStore(_ frame: SecretBytes) { _ = wire.state.withLock { $0.toStore }?(frame) }

    /// Ends both services, so that others can use the TPM, which takes one connection at a time.
    func end() {
        crashAuthority(refusing: true)
        // TPM2_GetRandom: a connection that has carried a command ends with the authority.
        _ = try? chip?.carry([0x80, 1, 0, 0, 0, 12, 0, 0, 1, 0x7b, 0, 8], for: .passcode)
        chip?.endCarrying()
    }

    /// Sets a passcode at the prompt.
    func setPasscode(_ passcode: String) -> [Reply] {
        let session = session()
        let replies = answers(session, .passcode(.setAtPrompt))
        enterNew(passcode)
        if hasChip, replies().isEmpty { noteCode() }
        return replies()
    }

    /// Writes down the recovery code that the prompt shows, types its end, and returns the code.
    @discardableResult
    func noteCode() -> String {
        world.perform(.codeAcknowledged)
        let code = shownCode
        world.perform(.recoveryCode(SecretBytes(code.suffix(6).utf8)))
        return code
    }

    /// The recovery code that the latest prompt with one showed.
    var shownCode: String {
        world.shownRecoveryCode.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } } ?? ""
    }

    func enterNew(_ passcode: String) {
        world.perform(.newPasscode(SecretBytes(passcode.utf8)))
        world.perform(.newPasscode(SecretBytes(passcode.utf8)))
    }
}

/// Remembers what the prompt shows.
final class SeenPrompter: Prompter {
    private let prompter: any Prompter
    private let content = Mutex<PromptContent?>(nil)

    init(_ prompter: any Prompter) { self.prompter = prompter }

    /// The number of prompts that were shown.
    let count = Atomic(0)
    /// What is shown; nil if there is no prompt.
    var shown: PromptContent? { content.withLock { $0 } }

    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        content.withLock { $0 = prompt.content }
        count.add(1, ordering: .relaxed)
        prompter.show(prompt, events: events)
    }

    func update(_ id: UInt64, _ content: PromptContent) {
        self.content.withLock { $0 = content }
        prompter.update(id, content)
    }

    func dismiss(_ id: UInt64) {
        content.withLock { $0 = nil }
        prompter.dismiss(id)
    }
}

/// Passes commands to a TPM, and changes its responses as a test wants.
private final class LyingCarrier: CommandCarrier {
    private let wire: TwoServices.Wire
    private let chip: TPMChip

    init(_ wire: TwoServices.Wire, _ chip: TPMChip) { (self.wire, self.chip) = (wire, chip) }

    func carry(_ command: [UInt8], for purpose: CarriedPurpose) throws(Failure) -> [UInt8] {
        guard let carrying = wire.state.withLock({ $0.carrying }) else { return try chip.carry(command, for: purpose) }
        return try carrying(command) { [chip] (command) throws(Failure) in try chip.carry(command, for: purpose) }
    }

    func endCarrying() { chip.endCarrying() }
}
