// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Dispatch
import Foundation
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySystem
import Synchronization
import TestSupport
import Testing

@testable import latchkey_secrets

/// A bus of the test's own with the provider, whose items are in memory.
final class SecretBus: Sendable {
    let bus: PrivateBus
    let keeper = MemoryKeeper()
    private let connection: SystemBus
    private let provider: SecretProvider

    init() throws {
        bus = try PrivateBus()
        connection = try SystemBus(address: bus.address, mostValues: SecretProvider.Bound.valuesOfMessage)
        provider = SecretProvider(connection, keeper)
        let started = Answer<Result<Void, BusError>>()
        provider.start { started.set($0) }
        try #require(started.wait(milliseconds: 10_000)).get()
    }

    deinit { connection.end() }

    /// Has the connection of the provider end, as if its process did.
    func end() { connection.end() }

    func client() throws -> SecretClient { try SecretClient(bus.address) }

    /// The environment of a program of the session.
    var environment: [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": bus.folder.path, "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
        ]
    }
}

/// A program that uses the Secret Service, with calls that wait for their answers.
final class SecretClient: Sendable {
    let bus: SystemBus
    let conversation: BusConversation
    let signals = Recorder<BusSignal>()

    init(_ address: String) throws {
        bus = try SystemBus(address: address, mostValues: SecretProvider.Bound.valuesOfMessage)
        conversation = BusConversation(bus: bus)
        bus.run { [bus, signals] in bus.observe("type='signal',sender='\(SecretProvider.name)'", signals.add) }
    }

    deinit { bus.end() }

    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ signature: String = "", _ arguments: BusValue...
    ) throws -> [BusValue] {
        try conversation.call(
            BusCall(SecretProvider.name, path, interface, member, arguments, signature: signature))
    }

    @discardableResult
    func service(_ member: String, _ signature: String, _ arguments: BusValue...) throws -> [BusValue] {
        try conversation.call(
            BusCall(
                SecretProvider.name, SecretObject.root, BusInterface.service.name, member, arguments,
                signature: signature))
    }

    /// Calls a method, and returns the name of the error that answers it; nil for an answer without one.
    func error(
        _ path: String, _ interface: String, _ member: String, _ signature: String = "", _ arguments: BusValue...
    ) throws -> String? {
        do throws(BusError) {
            _ = try conversation.call(
                BusCall(SecretProvider.name, path, interface, member, arguments, signature: signature))
            return nil
        } catch .refused(let name, _) {
            return name
        }
    }

    func get(_ path: String, _ interface: BusInterface, _ property: String) throws -> BusValue {
        let answer = try call(
            path, BusInterface.propertyAccess.name, "Get", "ss", .string(interface.name), .string(property))
        return try #require(answer.first?.content)
    }

    func plainSession() throws -> String {
        let answer = try service("OpenSession", "sv", .string("plain"), .variant("s", .string("")))
        return try #require(answer.last?.text)
    }

    /// Stores an item, and returns its path.
    @discardableResult
    func store(
        _ secret: String, _ pairs: [(String, String)], label: String = "a label", replaces: Bool = false,
        collection: String = login, session: String
    ) throws -> String {
        let answer = try call(
            collection, BusInterface.collection.name, "CreateItem", "a{sv}(oayays)b", .properties(label, pairs),
            .secret(secret, session), .boolean(replaces))
        #expect(answer.last == .path("/"))
        return try #require(answer.first?.text)
    }

    func secret(_ path: String, session: String) throws -> String {
        let answer = try call(path, BusInterface.item.name, "GetSecret", "o", .path(session))
        let fields = try #require(answer.first?.values)
        try #require(fields.count == 4 && fields[0] == .path(session) && fields[1] == .bytes(SecretBytes([])))
        return String(decoding: try #require(fields[2].octets).copyBytes(), as: UTF8.self)
    }

    static let login = SecretObject.collection("login").path
    static let temporary = SecretObject.collection("session").path
}

extension BusValue {
    static func pairs(_ pairs: [(String, String)]) -> BusValue {
        .list(pairs.map { .list([.string($0.0), .string($0.1)]) })
    }

    static func properties(_ label: String, _ pairs: [(String, String)]) -> BusValue {
        .list([
            .list([.string("org.freedesktop.Secret.Item.Label"), .variant("s", .string(label))]),
            .list([.string("org.freedesktop.Secret.Item.Attributes"), .variant("a{ss}", .pairs(pairs))]),
        ])
    }

    static func secret(_ text: String, _ session: String, parameters: [UInt8] = []) -> BusValue {
        .list([
            .path(session), .bytes(SecretBytes(parameters)), .bytes(SecretBytes(text.utf8)), .string("text/plain"),
        ])
    }

    /// The paths of an array of paths.
    var paths: [String] { (values ?? []).compactMap(\.text) }
}

extension SecretPairs {
    static func of(_ pairs: (String, String)...) throws -> SecretPairs {
        try #require(SecretPairs(pairs.map { Pair($0.0, $0.1) }))
    }
}
