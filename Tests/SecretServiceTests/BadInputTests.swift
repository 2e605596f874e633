// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import Synchronization
import TestSupport
import Testing

@testable import latchkey_secrets

/// What programs can do wrong: each is an error of the protocol, and the next call is answered.
@Suite(.needs(.messageBus), .timeLimit(.minutes(2))) struct BadInputTests {
    private let bus: SecretBus
    private let client: SecretClient

    init() throws {
        bus = try SecretBus()
        client = try bus.client()
    }

    @Test func anotherSignatureIsRefusedByEveryMethod() throws {
        let session = try client.plainSession()
        let item = try client.store("x", [("a", "1")], session: session)
        bus.keeper.setLocked(true)
        let prompt = try #require(try client.service("Unlock", "ao", .list([.path(SecretClient.login)])).last?.text)
        for path in [SecretObject.root, SecretClient.login, item, session, prompt] {
            let interface = try #require(SecretObject(path: path)).interface
            for interface in [interface, .propertyAccess, .introspection] {
                for method in interface.methods {
                    let (signature, arguments): (String, BusValue) = ("a(ss)", .pairs([("a", "b")]))
                    #expect(
                        try client.error(path, interface.name, method.name, signature, arguments)
                            == SecretError.Name.invalidArguments.rawValue, "\(method.name)")
                }
            }
        }
        #expect(bus.keeper.items.count == 1)
    }

    @Test func unknownNamesAreErrorsOfTheirKind() throws {
        let root = SecretObject.root
        #expect(try client.error(root, "org.example.None", "Call") == SecretError.Name.unknownInterface.rawValue)
        #expect(
            try client.error(root, BusInterface.service.name, "Delete") == SecretError.Name.unknownMethod.rawValue)
        for path in [
            "/x", "/collection", "/collection/a/b/c", "/collection/_", "/collection/_zz", "/aliases/x", "/session/01",
            "/session/x",
        ] {
            #expect(
                try client.error(root + path, BusInterface.item.name, "Delete")
                    == SecretError.Name.unknownObject.rawValue, "\(path)")
        }
        #expect(
            try client.error(root + "/session/999", BusInterface.session.name, "Close")
                == SecretError.Name.noSession.rawValue)
        let properties = BusInterface.propertyAccess.name
        #expect(
            try client.error(
                SecretClient.login, properties, "Get", "ss", .string(BusInterface.collection.name), .string("X"))
                == SecretError.Name.unknownProperty.rawValue)
        #expect(
            try client.error(
                SecretClient.login, properties, "Set", "ssv", .string(BusInterface.collection.name), .string("Locked"),
                .variant("b", .boolean(true))) == SecretError.Name.readOnly.rawValue)
        #expect(
            try client.error(
                SecretClient.login, properties, "Set", "ssv", .string(BusInterface.collection.name), .string("Label"),
                .variant("u", .integer(1))) == SecretError.Name.invalidArguments.rawValue)
    }

    @Test func aSessionBelongsToItsConnection() throws {
        let session = try client.plainSession()
        let item = try client.store("x", [("a", "1")], session: session)
        let other = try bus.client()
        #expect(
            try other.error(item, BusInterface.item.name, "GetSecret", "o", .path(session))
                == SecretError.Name.noSession.rawValue)
        #expect(try other.error(session, BusInterface.session.name, "Close") == SecretError.Name.noSession.rawValue)
        #expect(try client.call(session, BusInterface.session.name, "Close") == [])
        #expect(
            try client.error(item, BusInterface.item.name, "GetSecret", "o", .path(session))
                == SecretError.Name.noSession.rawValue)
    }

    @Test func degenerateKeysAndUnknownAlgorithmsAreRefused() throws {
        func open(_ algorithm: String, _ input: BusValue) throws -> String? {
            try client.error(
                SecretObject.root, BusInterface.service.name, "OpenSession", "sv", .string(algorithm), input)
        }
        // The second Oakley group (RFC 2409, section 6.2).
        let prime = try hex(
            """
            FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B\
            302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE6\
            49286651ECE65381FFFFFFFFFFFFFFFF
            """)
        let less = prime.dropLast() + [prime[127] - 1]
        let one = [UInt8](repeating: 0, count: 127) + [1]
        let (largest, long) = ([UInt8](repeating: 0xff, count: 128), [UInt8](repeating: 7, count: 300))
        let keys: [[UInt8]] = [[], [0], [1], one, Array(less), prime, largest, long]
        for key in keys {
            #expect(
                try open(TransferSession.encryptedName, .variant("ay", .bytes(SecretBytes(key))))
                    == SecretError.Name.invalidArguments.rawValue)
        }
        #expect(
            try open(TransferSession.encryptedName, .variant("s", .string("")))
                == SecretError.Name.invalidArguments.rawValue)
        #expect(try open("rot13", .variant("s", .string(""))) == SecretError.Name.notSupported.rawValue)
    }

    @Test func tooManyAttributesAndSessionsAreRefused() throws {
        let session = try client.plainSession()
        for pairs in [(0..<65).map { ("\($0)", "x") }, [("a", String(repeating: "x", count: 16 << 10))]] {
            #expect(
                try client.error(
                    SecretClient.login, BusInterface.collection.name, "CreateItem", "a{sv}(oayays)b",
                    .properties("x", pairs), .secret("x", session), .boolean(false))
                    == SecretError.Name.limitsExceeded.rawValue)
        }
        #expect(
            try client.error(
                SecretObject.root, BusInterface.service.name, "SearchItems", "a{ss}", .pairs([("a", "1"), ("a", "2")]))
                == SecretError.Name.invalidArguments.rawValue)
        #expect(
            try client.error(
                SecretObject.root, BusInterface.service.name, "Unlock", "ao",
                .list(Array(repeating: .path("/x"), count: 70_000))) == SecretError.Name.invalidArguments.rawValue)
        for _ in 1..<SecretProvider.Bound.sessionsOfProgram { _ = try client.plainSession() }
        #expect(
            try client.error(
                SecretObject.root, BusInterface.service.name, "OpenSession", "sv", .string("plain"),
                .variant("s", .string(""))) == SecretError.Name.limitsExceeded.rawValue)
        // Another program has its own.
        _ = try bus.client().plainSession()
    }

    @Test func aReadThatWaitsForThePersonHindersNobody() throws {
        let session = try client.plainSession()
        let path = try client.store("x", [("a", "1")], session: session)
        let asked = DispatchSemaphore(value: 0)
        let answered = DispatchSemaphore(value: 0)
        bus.keeper.person { (_) throws(Failure) in
            asked.signal()
            answered.wait()
        }
        let secret = Answer<Result<[BusValue], BusError>>()
        let call = BusCall(
            SecretProvider.name, path, BusInterface.item.name, "GetSecret", [.path(session)], signature: "o")
        client.bus.run { [bus = client.bus] in bus.call(call, milliseconds: 20_000) { secret.set($0) } }
        try asked.signalled()
        #expect(try client.service("SearchItems", "a{ss}", .pairs([("a", "1")])).first?.paths == [path])
        #expect(try bus.client().get(path, .item, "Label") == .string("a label"))
        answered.signal()
        #expect(try #require(secret.wait()).get().count == 1)
    }

    @Test func aProgramThatLeavesEndsItsRead() throws {
        let asked = DispatchSemaphore(value: 0)
        let left = DispatchSemaphore(value: 0)
        let released = DispatchSemaphore(value: 0)
        bus.keeper.person { (cancellation) throws(Failure) in
            // What the connection to the daemon does with a cancellation.
            cancellation.begin { left.signal() }
            asked.signal()
            released.wait()
            throw Failure(.appCancel)
        }
        do {
            let other = try bus.client()
            let session = try other.plainSession()
            let path = try other.store("x", [("a", "1")], session: session)
            let call = BusCall(
                SecretProvider.name, path, BusInterface.item.name, "GetSecret", [.path(session)], signature: "o")
            other.bus.run { [bus = other.bus] in bus.call(call, milliseconds: 20_000) { _ in } }
            try asked.signalled()
        }
        try left.signalled()
        released.signal()
        #expect(try client.service("SearchItems", "a{ss}", .pairs([("a", "1")])).first?.paths.count == 1)
    }

    @Test func aSecondProviderDoesNotGetTheName() throws {
        let connection = try SystemBus(address: bus.bus.address)
        defer { connection.end() }
        let second = SecretProvider(connection, MemoryKeeper())
        let started = Answer<Result<Void, BusError>>()
        second.start { started.set($0) }
        #expect(throws: BusError.self) { try #require(started.wait()).get() }
        #expect(try client.service("ReadAlias", "s", .string("default")) == [.path(SecretClient.login)])
    }

    @Test func everyStatusHasAnErrorAndEveryFailureIsAnswered() throws {
        for status in Status.allCases {
            bus.keeper.fail(Failure(status, "a message"))
            #expect(
                try client.error(SecretObject.root, BusInterface.service.name, "SearchItems", "a{ss}", .pairs([]))
                    == SecretError.Name(status).rawValue)
        }
    }
}

/// Paths of objects.
@Suite struct SecretObjectTests {
    @Test(arguments: ["login", "ä-_/x", "0", "a_5fb"]) func everyNameHasOnePath(_ name: String) {
        for object in [SecretObject.collection(name), .item(collection: name, name)] {
            #expect(SecretObject(path: object.path) == object)
        }
    }

    @Test func aPathHasOneSpelling() {
        let root = SecretObject.root
        for path in [
            root + "/collection/_6cogin", root + "/collection/_5F", root + "x", "/org/freedesktop", root + "/",
        ] {
            #expect(SecretObject(path: path) == nil)
        }
    }
}
