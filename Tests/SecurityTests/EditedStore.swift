// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyAuthority
import LatchkeyClient
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import SQLiteDriver
import SimulatedDriver
import SystemDriver
import TestSupport

@testable import LatchkeySimulator

/// A store in files, which a test edits before the daemon's engine opens it. When the store does not open, every request
/// fails with the reason, as in the daemon.
final class EditedStore: Sendable {
    private let temporary: TemporaryFolder
    private let folder: StoreFolder
    private static let identity = StoreIdentity(tier: .simulated, userID: 1000, passcodeCost: 10)

    init(_ identity: StoreIdentity = identity) throws {
        temporary = try TemporaryFolder()
        folder = StoreFolder(temporary.path + "/store")
        let random = SystemRandomSource()
        try folder.prepare { () throws(Failure) in
            try random.bytes(32)
        } build: { (path, rootKey) throws(Failure) in
            try identity.create(in: SQLiteItemStore.create(at: path), rootKey: rootKey, random: random)
        }
        // The first opening creates the enrolment record; closing merges the write-ahead log.
        if identity.tier == .simulated, identity.userID == 1000 { _ = try open() }
    }

    private func open() throws(Failure) -> Keychain {
        try Self.identity.open(
            SQLiteItemStore.open(folder.database), vault: FileKeyVault(folder), clock: VirtualClock(),
            random: SystemRandomSource())
    }

    /// The contents of the store's files by name.
    func files() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: folder.path + "/" + $0))) })
    }

    /// Overwrites files of the store.
    func write(_ files: [String: Data]) throws {
        for (name, bytes) in files { try bytes.write(to: URL(filePath: folder.path + "/" + name)) }
    }

    /// Changes one byte of the database's first page.
    func setHeaderByte(_ offset: Int, _ value: UInt8) throws {
        var database = try files()["keychain.sqlite"] ?? Data()
        database[offset] = value
        try write(["keychain.sqlite": database])
    }

    /// Notifies the store of a new enrolment set.
    func apply(_ set: EnrolmentSet) throws { _ = try open().apply(set) }

    /// Runs `body` while another connection holds a write transaction.
    func whileWriting<R>(_ body: () -> R) throws -> R {
        try SQLiteItemStore.open(folder.database).write { (_) throws(Failure) in body() }
    }

    /// Runs `body` with all calls of the API modules going to an engine on this store.
    func run<R>(_ record: SpyChannel.Record, _ body: () throws -> R) throws -> R {
        try EditedStore.run(keychain: Result { () throws(Failure) in try open() }, record, body)
    }

    static func run<R>(
        keychain: Result<Keychain, Failure>, reader: (any BiometricReader)? = nil, prompter: (any Prompter)? = nil,
        _ record: SpyChannel.Record, _ body: () throws -> R
    ) throws -> R {
        let (clock, random) = (VirtualClock(), SystemRandomSource())
        let world = SimulatedWorld(
            WorldState(sensor: .touchID, enrolment: [1]), clock: clock, random: random, user: 1000, save: { _ in })
        let authority = try LocalAuthority(
            LocalAuthority.Parts(
                tier: .simulated, userID: 1000, reader: reader ?? world,
                prompter: prompter ?? ScriptedPrompter(SimulatedPrompter(), world: world), clock: clock, random: random,
                work: ImmediateWorkQueue(), stretching: ImmediateWorkQueue(),
                counters: keychain.map { $0 as any CounterStore }, permissions: try? keychain.get()))
        let service = Service(
            Service.Parts(
                tier: .simulated, userID: 1000, storePath: "", processID: 1, keychain: keychain, authority: authority,
                clock: clock, random: random, work: ImmediateWorkQueue(), stretching: ImmediateWorkQueue(),
                keyModule: Machine.software(clock, random)))
        let client = Client(application: "app") {
            let caller = Caller(groups: ["app"], label: "app", processID: 1, userID: 1000)
            return SpyChannel(
                MemoryChannel { service.session(caller: caller, terminal: 0, mayNameItself: true, hello: $0) }, record)
        }
        // Prompts and biometry need a passcode to be set.
        if prompter != nil || reader != nil { try client.call(Request.PasscodeChange.set(SecretBytes("1234".utf8))) }
        return try ClientScope.$world.withValue(client, operation: body)
    }

    /// A store in memory.
    static func memory() throws -> Keychain {
        let random = SystemRandomSource()
        let items = try SQLiteItemStore.inMemory()
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try identity.create(in: items, vault: vault, random: random)
        return try identity.open(items, vault: vault, clock: VirtualClock(), random: random)
    }
}
