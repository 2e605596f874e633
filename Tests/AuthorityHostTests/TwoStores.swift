// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyService
import SQLiteDriver
import SimulatedDriver
import Synchronization
import SystemDriver
import TestSupport
import Testing

/// A user's own store and the system's keychain on one machine, in one process.
final class TwoStores: Sendable {
    static let passcode = SecretBytes("abcdef".utf8)
    static let ownPasscode = SecretBytes("1234".utf8)

    let system: TwoServices
    let destination: ObservedMove
    let ownWorld: SimulatedWorld
    let ownKeychain: Keychain
    let own: Service

    /// Starts both daemons; the system's keychain has a passcode.
    init() throws {
        let system = try TwoServices(WorldState(sensor: .none))
        #expect(system.setPasscode("abcdef") == [.done])
        self.system = system
        destination = ObservedMove { system.session() }
        let (random, clock, work) = (SystemRandomSource(), VirtualClock(), ImmediateWorkQueue())
        let world = SimulatedWorld(
            WorldState(sensor: .none), clock: clock, random: random, user: TwoServices.userID
        ) { _ in }
        ownWorld = world
        let identity = StoreIdentity(tier: .user, userID: TwoServices.userID, passcodeCost: 10)
        let store = try SQLiteItemStore.inMemory()
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try identity.create(in: store, vault: vault, random: random)
        let keychain = try identity.open(store, vault: vault, clock: clock, random: random)
        ownKeychain = keychain
        let authority = try LocalAuthority(
            LocalAuthority.Parts(
                tier: .user, userID: TwoServices.userID, reader: world,
                prompter: ScriptedPrompter(SimulatedPrompter(), world: world), clock: clock, random: random,
                work: work, stretching: work, isVirtual: true, counters: .success(keychain),
                permissions: keychain))
        own = Service(
            Service.Parts(
                tier: .user, userID: TwoServices.userID, storePath: "", processID: 2, keychain: .success(keychain),
                authority: authority, clock: clock, random: random, work: work, stretching: work,
                moveDestination: destination, acceptsVirtual: true))
    }

    /// A session of a program with the own store's daemon.
    func ownSession(_ group: String = "notes") -> Session {
        own.session(
            caller: Caller(groups: [group], label: group, processID: 5, userID: TwoServices.userID), terminal: 0,
            mayNameItself: false, hello: Request.Hello(application: ""))
    }

    /// Adds a password to the own store.
    func add(_ account: String, _ secret: String = "secret", _ rule: AccessControl = AccessControl()) {
        #expect(replies(ownSession(), Self.add(account, secret, rule))() == [.done])
    }

    static func add(_ account: String, _ secret: String, _ rule: AccessControl = AccessControl()) -> Request {
        .addItem(
            Request.AddItem(
                attributes: [.account: .text(account), .service: .text("mail")], accessControl: rule,
                secret: SecretBytes(secret.utf8)))
    }

    func replies(_ session: Session, _ request: Request) -> () -> [Reply] { system.answers(session, request) }

    /// Asks the system's keychain for a ticket, and enters the passcode.
    func ticket(_ session: Session) throws -> SecretBytes {
        let replies = replies(session, .beginMigration)
        system.world.perform(.passcode(Self.passcode))
        guard case .ticket(let ticket)? = replies().last else {
            throw Failure(.internalFailure, "no ticket: \(replies())")
        }
        return ticket
    }

    /// Moves the own store, which has no passcode.
    func move() throws -> Reply? {
        let command = system.session()
        defer { command.close() }
        return replies(ownSession(), .migrate(Request.Migrate(ticket: try ticket(command))))().last
    }

    /// The items of the system's keychain, by account: group and secret. Items that need a proof are left out.
    var moved: [String: String] {
        get throws {
            var items: [String: String] = [:]
            for group in ["user:\(TwoServices.userID)", "/usr/bin/notes"] {
                let caller = Caller(groups: [group], label: "", processID: 1, userID: TwoServices.userID)
                let session = system.service.session(
                    caller: caller, terminal: 0, mayNameItself: false, hello: Request.Hello(application: ""))
                let copy = Request.CopyItems(
                    limit: .all, returns: [.attributes, .data], authentication: Authentication(skipsProtected: true))
                for case .items(let found, _) in replies(session, .copyItems(copy))() {
                    for item in found {
                        guard case .text(let account)? = item.attributes?[.account] else { continue }
                        let secret = item.secret.map { String(decoding: $0.copyBytes(), as: UTF8.self) } ?? "-"
                        items[account] = "\(group) \(secret)"
                    }
                }
            }
            return items
        }
    }
}

/// A connection from the own store's daemon to the system's keychain without a socket.
final class ObservedMove: MoveDestination {
    struct State: Sendable {
        /// The requests that arrived, and the steps after them.
        var steps: [String] = []
        /// The number of the step that fails, as if the other process had been killed before it.
        var failingStep: Int?
        /// Called before each step, with its number.
        var before: (@Sendable (Int) -> Void)?
    }
    let state = Mutex(State())
    private let connection: @Sendable () -> Session

    init(_ connection: @escaping @Sendable () -> Session) { self.connection = connection }

    var steps: [String] { state.withLock { $0.steps } }

    func step(_ name: String) throws(Failure) {
        let (number, fails, before) = state.withLock { state in
            state.steps.append(name)
            return (state.steps.count, state.failingStep == state.steps.count, state.before)
        }
        before?(number)
        if fails { throw Failure(.daemonUnavailable, "The other process was killed.") }
    }

    func connect() throws(Failure) -> any MoveConnection {
        try step("connect")
        return Connection(self, connection())
    }

    func retireStore() throws(Failure) { try step("retire") }

    func endProcess() { state.withLock { $0.steps.append("end") } }

    private final class Connection: MoveConnection {
        private let move: ObservedMove
        private let session: Session

        init(_ move: ObservedMove, _ session: Session) { (self.move, self.session) = (move, session) }

        deinit { session.close() }

        func send(_ items: Request.ReceiveItems) throws(Failure) -> MigrationOutcome? {
            try move.step(items.isLast ? "commit" : "page")
            let replies = Recorder<Reply>()
            session.handle(1, .receiveItems(items), replies.add)
            guard let answer = replies.all.last else { throw Failure(.timedOut, "no reply") }
            return try Request.ReceiveItems.contents(of: answer)
        }
    }
}
