// SPDX-License-Identifier: Apache-2.0

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
import TestSupport
import Testing

/// The parts of a simulated service that a test may replace.
struct ServiceParts {
    var reader: any BiometricReader
    var prompter: any Prompter
    var clock: any Clock
    var random: any RandomSource
    var work: any WorkQueue = ImmediateWorkQueue()
    var stretching: any StretchQueue = ImmediateWorkQueue()
    var background: (any WorkQueue)?
    var keyWork: (any WorkQueue)?
    /// Wraps the authority.
    var wrap: (any AuthenticationAuthority) -> any AuthenticationAuthority = { $0 }
    var sessions: (any SessionMonitor)?
    var keyModule: (any KeyModule)?
    var secretCallers: (any SecretCallers)?
    var ended: (@Sendable (EvaluationEnd) -> Void)?
    var log: any EventLog = UnwatchedLog()
}

/// A service on a simulated machine, with its store in memory.
struct SimulatedService {
    static let caller = Caller(groups: ["app"], label: "app", processID: 1, userID: 1)

    let world: SimulatedWorld
    let store: SQLiteItemStore
    let keychain: Keychain
    let service: Service

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - scriptsStore: whether scripts can make writes of the store fail.
    ///   - change: changes the parts before the service is created.
    ///   - wrapping: replaces the vault in memory, for example by one that wraps it.
    init(
        _ state: WorldState = WorldState(sensor: .touchID, enrolment: [1, 2, 3]),
        scriptsStore: Bool = false, change: (inout ServiceParts, SimulatedWorld) -> Void = { _, _ in },
        wrapping: (any KeyVault) -> any KeyVault = { $0 }
    ) throws {
        let (random, clock) = (SystemRandomSource(), VirtualClock())
        world = SimulatedWorld(state, clock: clock, random: random, user: 1) { _ in }
        let identity = StoreIdentity(tier: .simulated, userID: 1, passcodeCost: 10)
        store = try SQLiteItemStore.inMemory()
        let vault = wrapping(MemoryKeyVault(rootKey: try random.bytes(32)))
        try identity.create(in: store, vault: vault, random: random)
        let seen: any ItemStore = scriptsStore ? ScriptedStore(store, world: world) : store
        keychain = try identity.open(seen, vault: vault, clock: clock, random: random)
        var parts = ServiceParts(
            reader: world, prompter: ScriptedPrompter(SimulatedPrompter(), world: world), clock: clock,
            random: random)
        change(&parts, world)
        let authority = try LocalAuthority(
            LocalAuthority.Parts(
                tier: .simulated, userID: 1, reader: parts.reader, prompter: parts.prompter, clock: parts.clock,
                random: random, work: parts.work, stretching: parts.stretching, counters: .success(keychain),
                permissions: keychain, ended: parts.ended, log: parts.log))
        var all = Service.Parts(
            tier: .simulated, userID: 1, storePath: "", processID: 1, keychain: .success(keychain),
            authority: ScriptedAuthority(parts.wrap(authority), world: world, log: parts.log),
            clock: parts.clock, random: parts.random, work: parts.work,
            stretching: parts.stretching, background: parts.background, keyWork: parts.keyWork,
            sessions: parts.sessions, keyModule: parts.keyModule, log: parts.log)
        all.secretCallers = parts.secretCallers
        service = Service(all)
    }

    /// Creates the service, and what records the prompts that it shows.
    static func withPrompts(
        change: (inout ServiceParts) -> Void = { _ in }
    ) throws -> (machine: SimulatedService, prompts: CollectingPrompter) {
        var prompts: CollectingPrompter?
        let machine = try SimulatedService { parts, _ in
            let collecting = CollectingPrompter(parts.prompter)
            (prompts, parts.prompter) = (collecting, collecting)
            change(&parts)
        }
        return (machine, try #require(prompts))
    }

    /// Returns a new session of the caller.
    func session(_ hello: Request.Hello = Request.Hello(application: "")) -> Session {
        service.session(caller: Self.caller, terminal: 0, mayNameItself: true, hello: hello)
    }

    /// Returns the handler of a new connection of the caller, which also takes commands of a script.
    func handler(_ hello: Request.Hello = Request.Hello(application: "")) -> ScriptedRequestHandler {
        ScriptedRequestHandler(session(hello), world: world)
    }
}

extension HostSession {
    /// Creates a connection that has sent hello and whose requests `handler` handles.
    convenience init(greeted handler: any RequestHandler, send: @escaping @Sendable (SecretBytes) -> Void) {
        let isGreeted = Atomic(false)
        self.init(
            send: { if isGreeted.load(ordering: .relaxed) { send($0) } }, end: {}, begin: { _ in handler })
        receive(Message.request(id: 1, .hello(Request.Hello(application: ""))).encoded())
        isGreeted.store(true, ordering: .relaxed)
    }
}
