// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Glibc
import LatchkeyAuthority
import LatchkeyIdentity
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeySystem
import SQLiteDriver
import SimulatedDriver
import SystemDriver
import TPMDriver

/// One daemon for one store: the only place where the drivers of tiers `user` and `simulated` are named.
///
/// It chooses the drivers, opens the store and joins both in a `Service`; a connection becomes a session of it. A store
/// that cannot be opened does not end the daemon, because `latchkey check` and recovery need one that answers.
///
/// `SystemMain` and `UserKeychain` compose the daemon of tiers `file` and `tpm`, with an authority in another process.
final class Daemon: FrameHandler {
    private let service: Service
    private let sessionCount: SessionCount
    private let background = SerialWorkQueue { false }
    private let agents: AgentPrompter
    /// The simulated machine; nil in tier `user`.
    private let world: SimulatedWorld?
    /// The sensors of tier `user`; nil where the program that speaks to them is not installed.
    private let sensors: ProcessSensors?
    /// The TPM; nil where the configuration names none.
    private let chip: TPMChip?

    init(
        _ options: Options, folder: StoreFolder, log events: any EventLog,
        unlockedMemory: @escaping @Sendable () -> String?
    ) throws(Failure) {
        let tier: Tier = options.isSimulated ? .simulated : .user
        agents = AgentPrompter(isSimulated: options.isSimulated)
        let random = SystemRandomSource()
        let realClock = SystemClock()
        var clock: any Clock = realClock
        var reader: any BiometricReader = AbsentReader()
        var world: SimulatedWorld?
        var problem: Failure?
        if options.isSimulated {
            var state = WorldState()
            do throws(Failure) {
                if let text = try folder.worldText() { state = try WorldState(text: text) }
            } catch {
                problem = error
            }
            let virtual = VirtualClock(over: realClock, offset: state.clockOffset, boot: state.boots)
            let simulated = SimulatedWorld(state, clock: virtual, random: random, user: geteuid()) {
                (state) throws(Failure) in
                try folder.persistWorld(state.text)
            }
            clock = virtual
            reader = simulated
            world = simulated
        }
        self.world = world
        let programs = Files.folder(of: Environment.executable ?? "")
        let refusals = RefusalNotices(events, clock: realClock)
        // Started before the store is opened, because the first answer of fprintd may take a moment.
        sensors =
            options.isSimulated
            ? nil : Self.sensors(programs + "/latchkey-authd", clock: realClock, log: refusals)
        if let sensors { reader = sensors }
        let keychain = Result { () throws(Failure) in
            if let problem { throw problem }
            return try Daemon.openKeychain(folder, tier, clock, random, world)
        }
        let sessions = SessionCount()
        sessionCount = sessions
        // The caller's terminal comes first, because it is where the user is. The agent's window is used when the
        // caller has no terminal or runs in its background.
        var prompters: [any Prompter] = [TerminalPrompter(program: programs + "/latchkey-prompt"), agents]
        if let world { prompters.append(QueuedActionPrompter(world) { Processes.detachThread($0) }) }
        var prompter: any Prompter = ChoosingPrompter(prompters)
        var ended: (@Sendable (EvaluationEnd) -> Void)?
        if let world {
            prompter = ScriptedPrompter(prompter, world: world)
            ended = { world.record.record($0.words) }
        }
        let (work, stretching) = (SerialWorkQueue { sessions.isOneAtMost }, StretchThreads())
        let verifications = OneStretchAtATime(stretching)
        var touch: (@Sendable (Bool) -> Void)?
        if let world { touch = { world.scan(matching: $0) } }
        // Without a keychain there are no permissions; every request that needs them fails with the keychain's error.
        let permissions = try? keychain.get()
        let authority = try LocalAuthority(
            LocalAuthority.Parts(
                tier: tier, userID: geteuid(), reader: reader, prompter: prompter, clock: clock, random: random,
                work: work, stretching: verifications, counters: keychain.map { $0 as any CounterStore },
                permissions: permissions, approvalKey: { () throws(Failure) in try keychain.get().approvalKey() },
                simulatedTouch: touch,
                ended: ended, log: events))
        // Tier simulated protects nothing, so a virtual TPM is as good there. Without a TPM a damaged file must not stop
        // the daemon; a match by a virtual reader is refused then.
        let allowsVirtual: Bool
        switch (tier, options.enclave) {
        case (.simulated, _): allowsVirtual = true
        case (_, .tpm?): allowsVirtual = try HardwareConfiguration.allowsVirtual()
        case (_, .software?), (_, nil):
            allowsVirtual =
                refusals.recording(.sensorFailed) { () throws(Failure) in
                    try HardwareConfiguration.allowsVirtual()
                } ?? false
        }
        chip = options.enclave == .tpm ? TPMChip(TPMPlace(options.tpm), clock: realClock, random: random) : nil
        let modules = KeyModules(
            options.enclave ?? (options.isSimulated ? .software : nil), chip: chip,
            allowsVirtual: allowsVirtual, clock: clock, random: random)
        var parts = Service.Parts(
            tier: tier, userID: geteuid(), storePath: folder.path, processID: getpid(), keychain: keychain,
            authority: world.map { ScriptedAuthority(authority, world: $0, log: events) } ?? authority,
            clock: clock, random: random, work: work, stretching: stretching,
            background: background, keyWork: modules.needsThread ? SerialWorkQueue { false } : nil,
            sessions: world, keyModule: modules.module, earlierKeyModules: modules.earlier,
            moveDestination: options.isSimulated ? nil : SystemMove(folder), acceptsVirtual: allowsVirtual,
            log: events,
            unlockedMemory: unlockedMemory)
        parts.secretCallers = OwnSecretCallers(determinesSessions: sensors != nil)
        service = Service(parts)
        if case .failure(let failure) = keychain {
            StandardError.write(failure)
            events.record(.storeUnusable, failure)
        }
        if let sensors { observe(sensors, authority, events) }
        refusals.observe { [weak service] source, count in
            guard let service else { return false }
            service.refused(source, count: count)
            return true
        }
    }

    /// The sensors through the program at this path; nil if it is not installed.
    private static func sensors(_ program: String, clock: any Clock, log: any EventLog) -> ProcessSensors? {
        guard Files.exists(program) else { return nil }
        return ProcessSensors(InstalledSensorProgram(program), user: geteuid(), clock: clock, log: log)
    }

    /// Observes the login sessions of the user from now on.
    private func observe(_ sensors: ProcessSensors, _ authority: LocalAuthority, _ events: any EventLog) {
        // A queue of its own: a lock must not wait for writes.
        let observer = SessionObserver(
            sensors, of: geteuid(), authority: authority, work: SerialWorkQueue { false }
        ) { [weak service] isLocked in service?.applySessionLock(isLocked: isLocked) }
        sensors.observeSession { event, done in observer.apply(event.change, done) }
        observer.begin()
    }

    private static func openKeychain(
        _ folder: StoreFolder, _ tier: Tier, _ clock: any Clock, _ random: any RandomSource, _ world: SimulatedWorld?
    ) throws(Failure) -> Keychain {
        // A simulated store protects nothing, so its passcodes are stretched at the lowest cost, only to exercise the
        // code.
        let identity = StoreIdentity(tier: tier, userID: geteuid(), passcodeCost: tier == .simulated ? 10 : 16)
        try folder.prepare {
            () throws(Failure) in
            try random.bytes(32)
        } build: { (path, rootKey) throws(Failure) in
            try identity.create(in: SQLiteItemStore.create(at: path), rootKey: rootKey, random: random)
        }
        let items = try SQLiteItemStore.open(folder.database)
        return try identity.open(
            world.map { ScriptedStore(items, world: $0) } ?? items, vault: FileKeyVault(folder), clock: clock,
            random: random)
    }

    /// Starts background work that does not depend on a request.
    func begin() { service.beginStoreCheck() }

    /// Stops the service after the last connection has ended.
    func stop() {
        service.stop()
        chip?.close()
    }

    // MARK: - Connections

    /// A daemon serves only its own user; the peer's user id comes from the kernel.
    func serves(_ peer: PeerCredentials) -> Bool { peer.userID == geteuid() }

    func payload(of refusal: Failure) -> SecretBytes { HostSession.payload(of: refusal) }

    func connected(_ connection: FrameConnection) -> (any FrameReceiver)? {
        let peer = connection.peer
        let program = connection.process.path
        let name = program.map(Files.name(of:)) ?? Caller.undetermined
        // The first program: a reader may have been plugged in since the last one left.
        if sessionCount.isNone { sensors?.look() }
        var caller = Caller(
            groups: [name], label: name, program: program ?? "", processID: peer.processID, userID: peer.userID,
            process: connection.process)
        // Without sensors nothing reports login sessions, and biometry is not refused because of one.
        if sensors != nil { caller.findLoginSession() }
        let terminal = Terminal.controlling(peer.processID)
        let host = HostSession {
            [weak connection] in
            connection?.send($0)
        } end: { [weak connection] in
            connection?.end()
        } begin: { [service, world, caller, weak connection] hello in
            let session = service.session(caller: caller, terminal: terminal, mayNameItself: true, hello: hello) {
                [weak connection] body in
                if let connection { connection.whenDrained(body) } else { body() }
            }
            return world.map { ScriptedRequestHandler(session, world: $0) } ?? session
        }
        return ConnectedProgram(connection, host, sessionCount, agents)
    }

    func mayStop() -> Bool { !service.mustStay }

    func rested() {
        background.submit(.any) { [service] in
            service.releaseMemory()
            ProcessProtection.returnFreedMemory()
        }
    }
}

extension PeerProcess: CallerProcess {}

extension Caller {
    /// Sets the login session, as the kernel reports it.
    fileprivate mutating func findLoginSession() {
        do throws(Failure) {
            loginSession = try ControlGroup.session(ofProcess: processID, user: userID)
        } catch {
            // A program whose session is unknown has none, so biometry is refused to it.
            loginSession = ""
        }
    }
}

/// The programs of this installation that may name others: by the paths of their executables.
enum NamingPrograms {
    private static let folder = Files.folder(of: Environment.executable ?? "")
    /// Passes on calls of the Secret Service.
    static let provider = folder + "/latchkey-secrets"
    /// Has the agent for ssh: in the folder `bin` of an installation, and beside this program in a build.
    private static let agents = [Files.folder(of: folder) + "/bin/latchkey", folder + "/latchkey"]

    static func isAgent(_ path: String) -> Bool { agents.containsBytes(of: path) }
}

/// The programs that call the Secret Service in tiers `user` and `simulated`, where each program of the user can be the
/// provider.
private struct OwnSecretCallers: SecretCallers {
    let determinesSessions: Bool
    private let known = KnownPrograms<SandboxStatement>()
    var work: (any WorkQueue)? { nil }
    var importer: String { NamingPrograms.provider }

    init(determinesSessions: Bool) { self.determinesSessions = determinesSessions }

    func program(_ process: ProcessName, namedBy provider: Caller) throws(Failure) -> AskingProgram {
        // Read for each call: the user can change it.
        let statement: SandboxStatement
        do throws(Failure) {
            statement = try SandboxStatement(of: process)
        } catch {
            throw Failure(
                .peerNotTrusted, "The program that asks cannot be determined.", hint: "Try again.", cause: error)
        }
        return try known.program(process, statement) { () throws(Failure) in try examined(process, statement) }
    }

    func asker(_ process: ProcessName, namedBy agent: Caller) throws(Failure) -> Caller? {
        // The prompt of any other program has its own name: it could name one that the person trusts.
        guard NamingPrograms.isAgent(agent.program) else { return nil }
        let running = try NamedProcess(process)
        return running.terminal == 0 ? nil : caller(running, path: try running.executable(), groups: [])
    }

    private func examined(_ process: ProcessName, _ statement: SandboxStatement) throws(Failure) -> AskingProgram {
        let running = try NamedProcess(process)
        let path = try running.executable()
        var app: SandboxedApp?
        switch statement {
        case .nothing: break
        case .app(let stated): app = stated
        case .malformed:
            // By its executable it would be the program that passes on the calls of all such apps.
            throw Failure(
                .peerNotTrusted, "The sandbox of the program that asks has a description that names no app.",
                hint: "See /.flatpak-info in the sandbox, or its AppArmor label.")
        }
        let chain = try ProgramChain(of: running) { (name) throws(Failure) in
            name == process ? path : try NamedProcess(name).executable()
        }
        var caller = caller(running, path: path, groups: [SecretService.group])
        caller.sandbox = app
        // What started a sandbox is no part of its app.
        if let app { caller.label = app.label } else { caller.startedBy = chain.startedBy }
        return AskingProgram(caller: caller, name: app?.owner ?? chain.name)
    }

    private func caller(_ running: NamedProcess, path: String, groups: [String]) -> Caller {
        let process = running.name
        var caller = Caller(
            groups: groups, label: Files.name(of: path), program: path, processID: process.processID,
            userID: process.userID, process: running)
        caller.processName = process
        caller.terminal = running.terminal
        if determinesSessions { caller.findLoginSession() }
        return caller
    }
}

/// Chooses where the daemon listens: in the user's runtime folder, else in the store, else in a folder below /tmp.
enum SocketPlace {
    /// Returns a path of at most `Sockets.pathBytes` bytes in a folder that belongs to the user.
    static func choose(store: String) throws(Failure) -> String {
        // A user may have several stores, each with its own socket.
        let name = "/" + String(store.utf8.shortHash, radix: 16) + ".sock"
        if let folder = StoreLocation.runtimeFolder, fits(folder + name), isMade(folder) { return folder + name }
        if fits(store + "/daemon.sock") { return store + "/daemon.sock" }
        let folder = "/tmp/latchkey-\(geteuid())"
        try Files.makePrivateFolder(folder)
        return folder + name
    }

    private static func isMade(_ folder: String) -> Bool {
        do throws(Failure) {
            try Files.makePrivateFolder(folder)
            return true
        } catch {
            return false
        }
    }

    private static func fits(_ path: String) -> Bool { path.utf8.count <= Sockets.pathBytes }
}
