// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyAuthority
import LatchkeyClient
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import SQLiteDriver
import SimulatedDriver
import SoftwareEnclaveDriver
import Synchronization
import SystemDriver

/// The engine of a simulated machine, and what survives its restarts: the simulated hardware, clock, store and root
/// key.
final class Machine: Sendable {
    let world: SimulatedWorld
    private let clock: VirtualClock
    private let random = SystemRandomSource()
    private let store: any ItemStore
    private let vault: any KeyVault
    private let path: String
    private let waitsForActions: Bool
    let line: ScriptLine
    private static let identity = StoreIdentity(tier: .simulated, userID: geteuid(), passcodeCost: 10)

    private struct Running: Sendable {
        var service: Service
        var applications: Set<String> = []
        var channels: [WeakChannel] = []
    }
    private struct WeakChannel: Sendable { weak var channel: MemoryChannel? }
    private let running: Mutex<Running>

    /// Makes the key module of a machine.
    typealias Enclave = @Sendable (any Clock, any RandomSource) -> any KeyModule
    /// An enclave in software, as apps test with.
    static let software: Enclave = { SoftwareEnclave(clock: $0, random: $1) }
    private let keyModule: (any KeyModule)?
    let events = CollectedEvents()

    init(
        sensor: BiometryKind, isEnrolled: Bool, enclave: Enclave?, store place: Simulator.Store, waitsForActions: Bool,
        line: ScriptLine
    ) throws(Failure) {
        self.waitsForActions = waitsForActions
        self.line = line
        // A random boot identifier: a machine that opens an existing folder starts in another boot than the previous
        // one.
        let boot = try random.bytes(8).withBytes { $0.loadUnaligned(as: UInt64.self) }
        // The clock starts a moment after zero, so that a time of zero means "never".
        clock = VirtualClock(offset: 1_000_000_000, boot: boot)
        keyModule = enclave?(clock, random)
        var state = WorldState(sensor: sensor, enrolment: isEnrolled ? try random.bytes(16).copyBytes() : [])
        let plain: any ItemStore
        var persist: @Sendable (WorldState) throws(Failure) -> Void = { _ throws(Failure) in }
        switch place {
        case .memory:
            path = ":memory:"
            let items = try SQLiteItemStore.inMemory()
            let memory = MemoryKeyVault(rootKey: try random.bytes(32))
            try Machine.identity.create(in: items, vault: memory, random: random)
            (plain, vault) = (items, memory)
        case .folder(let folderPath):
            path = folderPath
            let folder = StoreFolder(folderPath)
            let random = random
            try folder.prepare {
                () throws(Failure) in
                try random.bytes(32)
            } build: { (path, rootKey) throws(Failure) in
                try Machine.identity.create(in: SQLiteItemStore.create(at: path), rootKey: rootKey, random: random)
            }
            (plain, vault) = (try SQLiteItemStore.open(folder.database), FileKeyVault(folder))
            // The enrolment set of an existing folder is restored.
            if isEnrolled, let text = try folder.worldText() {
                let stored = try WorldState(text: text)
                if !stored.enrolment.isEmpty { state.enrolment = stored.enrolment }
            }
            persist = { (state) throws(Failure) in try folder.persistWorld(state.text) }
            try persist(state)
        }
        world = SimulatedWorld(state, clock: clock, random: random, user: geteuid(), save: persist)
        store = ScriptedStore(plain, world: world)
        running = Mutex(
            Running(
                service: try Machine.start(
                    store, vault, world, clock, random, path, keyModule, events, waitsForActions: waitsForActions)))
    }

    private static func start(
        _ store: any ItemStore, _ vault: any KeyVault, _ world: SimulatedWorld, _ clock: VirtualClock,
        _ random: SystemRandomSource, _ path: String, _ keyModule: (any KeyModule)?, _ events: CollectedEvents,
        waitsForActions: Bool
    ) throws(Failure) -> Service {
        let keychain = try identity.open(store, vault: vault, clock: clock, random: random)
        let work = ImmediateWorkQueue()
        let authority = try LocalAuthority(
            LocalAuthority.Parts(
                tier: .simulated, userID: geteuid(), reader: world,
                prompter: ScriptedPrompter(SimulatedPrompter(world, waitsForActions: waitsForActions), world: world),
                clock: clock, random: random,
                work: work, stretching: work, counters: .success(keychain), permissions: keychain,
                approvalKey: { () throws(Failure) in try keychain.approvalKey() },
                ended: { world.record.record($0.words) }, log: events))
        return Service(
            Service.Parts(
                tier: .simulated, userID: geteuid(), storePath: path, processID: getpid(),
                keychain: .success(keychain), authority: ScriptedAuthority(authority, world: world, log: events),
                clock: clock, random: random, work: work, stretching: work, sessions: world, keyModule: keyModule,
                log: events))
    }

    /// Sets the answer of the user to an app's request to use Face ID.
    func setFacePermission(_ application: String, _ isAllowed: Bool?) {
        let service = running.withLock { running in
            running.applications.insert(application)
            return running.service
        }
        service.setFacePermission(application, isAllowed)
    }

    /// Connects an app. A new app is allowed to use Face ID, since few scripts test the permission.
    func connect(_ application: String) -> MemoryChannel {
        let isNew = running.withLock { !$0.applications.contains(application) }
        if isNew { setFacePermission(application, true) }
        return running.withLock { running in
            let caller = Caller(groups: [application], label: application, processID: getpid(), userID: geteuid())
            let channel = MemoryChannel { [service = running.service, world] hello in
                ScriptedRequestHandler(
                    service.session(caller: caller, terminal: 0, mayNameItself: true, hello: hello), world: world)
            }
            running.channels.removeAll { $0.channel == nil }
            running.channels.append(WeakChannel(channel: channel))
            return channel
        }
    }

    func isPasscodeSet() throws(Failure) -> Bool {
        try Machine.identity.open(store, vault: vault, clock: clock, random: random).isPasscodeSet
    }

    /// Starts a new engine on the same store, in another boot.
    func restart() throws(Failure) {
        let channels = running.withLock { $0.channels }
        for entry in channels { entry.channel?.close() }
        world.record.record("the machine restarts")
        clock.restart()
        let service = try Machine.start(
            store, vault, world, clock, random, path, keyModule, events, waitsForActions: waitsForActions)
        running.withLock { $0 = Running(service: service, applications: $0.applications) }
    }
}
