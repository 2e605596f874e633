// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyClient
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

@testable import latchkey_secrets

/// Every method and property of `org.freedesktop.secrets`.
@Suite(.needs(.messageBus), .timeLimit(.minutes(2))) struct ServiceTests {
    private let bus: SecretBus
    private let client: SecretClient

    init() throws {
        bus = try SecretBus()
        client = try bus.client()
    }

    @Test func anItemHasWhatItWasStoredWith() throws {
        let session = try client.plainSession()
        let path = try client.store("secret", [("b", "2"), ("a", "1")], label: "Läbel", session: session)
        #expect(try client.secret(path, session: session) == "secret")
        #expect(try client.get(path, .item, "Label") == .string("Läbel"))
        #expect(try client.get(path, .item, "Attributes") == .pairs([("a", "1"), ("b", "2")]))
        #expect(try client.get(path, .item, "Locked") == .boolean(false))
        #expect(try client.get(path, .item, "Type") == .string("org.freedesktop.Secret.Generic"))
        #expect(try client.get(path, .item, "Created").number ?? 0 > 1_700_000_000)
        #expect(try client.get(path, .item, "Modified") == client.get(path, .item, "Created"))
        let all = try client.call(
            path, BusInterface.propertyAccess.name, "GetAll", "s", .string(BusInterface.item.name))
        #expect(all.first?.values?.count == BusInterface.item.properties.count)
    }

    @Test func theCollectionsAreThereFromTheStart() throws {
        #expect(
            try client.get(SecretObject.root, .service, "Collections").paths
                == [SecretClient.login, SecretClient.temporary])
        for (alias, path) in [
            ("default", SecretClient.login), ("login", SecretClient.login), ("session", SecretClient.temporary),
            ("x", "/"),
        ] {
            #expect(try client.service("ReadAlias", "s", .string(alias)) == [.path(path)])
        }
        #expect(try client.service("SetAlias", "so", .string("default"), .path(SecretClient.login)) == [])
        #expect(
            try client.error(
                SecretObject.root, BusInterface.service.name, "SetAlias", "so", .string("mine"),
                .path(SecretClient.login)) == SecretError.Name.notSupported.rawValue)
        #expect(try client.get("/org/freedesktop/secrets/aliases/default", .collection, "Label") == .string("Login"))
        #expect(try client.get(SecretClient.login, .collection, "Created") == .integer(1_600_000_000))
    }

    @Test func aCollectionIsMadeRenamedAndDeleted() throws {
        let label = BusValue.list([
            .list([.string("org.freedesktop.Secret.Collection.Label"), .variant("s", .string("Mine"))])
        ])
        let made = try client.service("CreateCollection", "a{sv}s", label, .string(""))
        let path = try #require(made.first?.text)
        // A hyphen is no character of a path.
        #expect(path.hasPrefix("/org/freedesktop/secrets/collection/c_2d"))
        try client.signals.first { $0.member == "CollectionCreated" && $0.arguments == [.path(path)] }
        #expect(try client.get(path, .collection, "Label") == .string("Mine"))
        try client.call(
            path, BusInterface.propertyAccess.name, "Set", "ssv", .string(BusInterface.collection.name),
            .string("Label"),
            .variant("s", .string("Yours")))
        #expect(try client.get(path, .collection, "Label") == .string("Yours"))
        #expect(try client.call(path, BusInterface.collection.name, "Delete") == [.path("/")])
        try client.signals.first { $0.member == "CollectionDeleted" }
        #expect(
            try client.error(
                path, BusInterface.propertyAccess.name, "Get", "ss", .string(BusInterface.collection.name),
                .string("Label")) == SecretError.Name.noSuchObject.rawValue)
        #expect(
            try client.error(SecretClient.login, BusInterface.collection.name, "Delete")
                == SecretError.Name.notSupported.rawValue)
        let known = try client.service("CreateCollection", "a{sv}s", label, .string("default"))
        #expect(known == [.path(SecretClient.login), .path("/")])
    }

    @Test func anItemIsFoundReplacedChangedAndDeleted() throws {
        let session = try client.plainSession()
        let path = try client.store("one", [("a", "1"), ("xdg:schema", "s")], session: session)
        #expect(try client.store("two", [("a", "1"), ("xdg:schema", "s")], replaces: true, session: session) == path)
        try client.signals.first { $0.member == "ItemCreated" && $0.arguments == [.path(path)] }
        try client.signals.first { $0.member == "ItemChanged" }
        let other = try client.store("three", [("a", "1"), ("b", "2")], session: session)
        #expect(
            try client.service("SearchItems", "a{ss}", .pairs([("a", "1")])) == [
                .list([.path(path), .path(other)]), .list([]),
            ])
        #expect(
            try client.call(
                SecretClient.login, BusInterface.collection.name, "SearchItems", "a{ss}", .pairs([("b", "2")]))
                == [.list([.path(other)])])
        #expect(try client.get(SecretClient.login, .collection, "Items").paths == [path, other])
        try client.call(path, BusInterface.item.name, "SetSecret", "(oayays)", .secret("four", session))
        #expect(try client.secret(path, session: session) == "four")
        try client.call(
            path, BusInterface.propertyAccess.name, "Set", "ssv", .string(BusInterface.item.name),
            .string("Attributes"),
            .variant("a{ss}", .pairs([("c", "3")])))
        #expect(try client.get(path, .item, "Attributes") == .pairs([("c", "3")]))
        let answer = try client.service("GetSecrets", "aoo", .list([.path(path), .path(other)]), .path(session))
        #expect(answer.first?.values?.count == 2)
        #expect(try client.call(path, BusInterface.item.name, "Delete") == [.path("/")])
        try client.signals.first { $0.member == "ItemDeleted" && $0.arguments == [.path(path)] }
        #expect(
            try client.error(path, BusInterface.item.name, "GetSecret", "o", .path(session))
                == SecretError.Name.noSuchObject.rawValue)
    }

    @Test func anItemOfTheSessionIsInMemoryOnly() throws {
        let session = try client.plainSession()
        let path = try client.store("short", [("a", "1")], collection: SecretClient.temporary, session: session)
        #expect(bus.keeper.items.isEmpty)
        #expect(try client.secret(path, session: session) == "short")
        #expect(try client.service("SearchItems", "a{ss}", .pairs([("a", "1")])).first?.paths == [path])
        #expect(try client.get(SecretClient.temporary, .collection, "Items").paths == [path])
        try client.call(path, BusInterface.item.name, "SetSecret", "(oayays)", .secret("other", session))
        #expect(try client.secret(path, session: session) == "other")
        try client.call(path, BusInterface.item.name, "Delete")
        #expect(try client.service("SearchItems", "a{ss}", .pairs([("a", "1")])).first?.paths == [])
    }

    @Test func anItemOfAnotherProgramIsLockedUntilItIsUnlocked() throws {
        let session = try client.plainSession()
        bus.keeper.addForeign(try .of(("site", "example.org")), "foreign")
        #expect(try client.service("SearchItems", "a{ss}", .pairs([])) == [.list([]), .list([])])
        let found = try client.service("SearchItems", "a{ss}", .pairs([("site", "example.org")]))
        let path = try #require(found.last?.paths.first)
        #expect(found.first == .list([]))
        #expect(
            try client.get(path, .item, "Label") == .string("") && client.get(path, .item, "Locked") == .boolean(true))
        #expect(
            try client.error(path, BusInterface.item.name, "GetSecret", "o", .path(session))
                == SecretError.Name.isLocked.rawValue)
        #expect(try client.service("Unlock", "ao", .list([.path(path)])) == [.list([.path(path)]), .path("/")])
        try client.signals.first { $0.member == "PropertiesChanged" && $0.path == path }
        #expect(try client.secret(path, session: session) == "foreign")
        try client.service("Lock", "ao", .list([.path(path)]))
        try client.service("SearchItems", "a{ss}", .pairs([("site", "example.org")]))
        #expect(
            try client.error(path, BusInterface.item.name, "GetSecret", "o", .path(session))
                == SecretError.Name.isLocked.rawValue)
    }

    @Test func aLockedKeychainIsUnlockedByAPrompt() throws {
        let session = try client.plainSession()
        let path = try client.store("secret", [("a", "1")], session: session)
        try client.service("Lock", "ao", .list([.path(SecretClient.login)]))
        #expect(try client.get(SecretClient.login, .collection, "Locked") == .boolean(true))
        #expect(try client.service("SearchItems", "a{ss}", .pairs([("a", "1")])).last?.paths == [path])
        let answer = try client.service("Unlock", "ao", .list([.path(SecretClient.login)]))
        #expect(answer.first == .list([]))
        let prompt = try #require(answer.last?.text)
        try client.call(prompt, BusInterface.prompt.name, "Prompt", "s", .string(""))
        let signal = try client.signals.first { $0.member == "Completed" }
        #expect(signal.path == prompt)
        #expect(signal.arguments == [.boolean(false), .variant("ao", .list([.path(SecretClient.login)]))])
        #expect(try client.get(SecretClient.login, .collection, "Locked") == .boolean(false))
        #expect(
            try client.error(prompt, BusInterface.prompt.name, "Dismiss") == SecretError.Name.noSuchObject.rawValue)
    }

    @Test func aDismissedPromptLeavesTheKeychainLocked() throws {
        bus.keeper.setLocked(true)
        let refused = DispatchSemaphore(value: 0)
        bus.keeper.person { (_) throws(Failure) in
            refused.wait()
            throw Failure(.userCancel)
        }
        let prompt = try #require(try client.service("Unlock", "ao", .list([.path(SecretClient.login)])).last?.text)
        try client.call(prompt, BusInterface.prompt.name, "Prompt", "s", .string(""))
        try client.call(prompt, BusInterface.prompt.name, "Dismiss")
        let signal = try client.signals.first { $0.member == "Completed" }
        #expect(signal.arguments == [.boolean(true), .variant("ao", .list([]))])
        refused.signal()
        #expect(try client.get(SecretClient.login, .collection, "Locked") == .boolean(true))
    }

    @Test func anEncryptedSessionCarriesTheSecret() throws {
        let agreement = try SecretTransferKey.Agreement()
        let answer = try client.service(
            "OpenSession", "sv", .string(TransferSession.encryptedName),
            .variant("ay", .bytes(SecretBytes(agreement.publicKey))))
        let publicKey = try #require(answer.first?.content?.octets)
        let session = try #require(answer.last?.text)
        let key = try #require(try agreement.key(with: publicKey))
        let (vector, ciphertext) = try key.seal(SecretBytes("secret".utf8))
        let sent = BusValue.list([.path(session), .bytes(vector), .bytes(ciphertext), .string("text/plain")])
        let path = try #require(
            try client.call(
                SecretClient.login, BusInterface.collection.name, "CreateItem", "a{sv}(oayays)b",
                .properties("x", [("a", "1")]), sent, .boolean(false)
            ).first?.text)
        #expect(bus.keeper.items.first?.new.secret == SecretBytes("secret".utf8))
        let fields = try #require(
            try client.call(path, BusInterface.item.name, "GetSecret", "o", .path(session)).first?.values)
        let opened = try key.open(try #require(fields[2].octets), vector: try #require(fields[1].octets))
        #expect(opened == SecretBytes("secret".utf8))
        for (vector, value) in [(vector, SecretBytes([])), (SecretBytes([]), ciphertext), (vector, vector)] {
            #expect(
                try client.error(
                    path, BusInterface.item.name, "SetSecret", "(oayays)",
                    .list([.path(session), .bytes(vector), .bytes(value), .string("")]))
                    == SecretError.Name.invalidArguments.rawValue)
        }
    }

    @Test func aSecretMayHaveOneMebibyte() throws {
        let session = try client.plainSession()
        let largest = String(repeating: "x", count: 1 << 20)
        let path = try client.store(largest, [("a", "1")], session: session)
        #expect(try client.secret(path, session: session) == largest)
        #expect(
            try client.error(
                path, BusInterface.item.name, "SetSecret", "(oayays)", .secret(largest + "x", session))
                == SecretError.Name.limitsExceeded.rawValue)
    }

    @Test func fiveThousandItemsAreFoundUnlockedAndRead() throws {
        let session = try client.plainSession()
        for number in 0..<5000 { bus.keeper.add(try .of(("all", "x"), ("number", "\(number)")), "secret \(number)") }
        let found = try client.service("SearchItems", "a{ss}", .pairs([("all", "x")]))
        let paths = try #require(found.first?.values)
        #expect(paths.count == 5000)
        #expect(try client.get(SecretClient.login, .collection, "Items").paths.count == 5000)
        #expect(try client.service("Unlock", "ao", .list(paths)).first?.values?.count == 5000)
        let secrets = try client.service("GetSecrets", "aoo", .list(paths), .path(session))
        #expect(secrets.first?.values?.count == 5000)
    }

    @Test func theIntrospectionNamesEveryMember() throws {
        for (path, interface) in [
            (SecretObject.root, BusInterface.service), (SecretClient.login, .collection),
            (try client.plainSession(), .session),
        ] {
            let xml = try #require(
                try client.call(path, "org.freedesktop.DBus.Introspectable", "Introspect").first?.text)
            for member in interface.methods + interface.signals { #expect(xml.contains("name=\"\(member.name)\"")) }
            for property in interface.properties { #expect(xml.contains("<property name=\"\(property.name)\"")) }
            try client.call(path, "org.freedesktop.DBus.Peer", "Ping")
        }
    }

    @Test func theDaemonIsToldWhoAsks() throws {
        try client.service("SearchItems", "a{ss}", .pairs([]))
        let asker = try #require(bus.keeper.askers.first)
        #expect(asker.name.processID == getpid() && asker.name.userID == geteuid())
        #expect(asker.name.startTime == TerminalJob(getpid())?.startTime)
    }
}
