// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyModel
import LatchkeySystem
import LatchkeyWords
import TestSupport
import Testing

@testable import latchkey_secrets

/// `latchkey secrets`, in a home folder of the test's own.
struct Person {
    let folder: TemporaryFolder
    let setup: SecretsSetup
    let keeper = MemoryKeeper()
    let written = Recorder<String>()
    private let bus: SystemBus

    init(_ address: String) throws {
        folder = try TemporaryFolder()
        setup = SecretsSetup(
            data: folder.path + "/data", configuration: folder.path + "/config",
            program: "/usr/libexec/latchkey-secrets")
        bus = try SystemBus(address: address)
    }

    func run(_ arguments: String...) throws { try command { [bus] in bus }.run(arguments) }

    /// The command where the session has no bus.
    func withoutBus() -> SecretsCommand {
        command { () throws(Failure) in throw Failure(.daemonUnavailable, "There is no message bus of a session.") }
    }

    private func command(_ bus: @escaping @Sendable () throws(Failure) -> SystemBus) -> SecretsCommand {
        SecretsCommand(
            setup: setup, bus: bus, texts: SecretsTexts(.plainEnglish), keeper: keeper, write: written.add,
            note: { _ in })
    }
}

@Suite(.needs(.messageBus), .timeLimit(.minutes(2))) struct SetupTests {
    @Test func enablingWritesBothFilesAndDisablingRemovesThem() throws {
        let person = try Person(PrivateBusAddress.shared())
        #expect(!person.setup.isEnabled)
        try person.run("enable")
        #expect(person.setup.isEnabled)
        let file = try String(contentsOfFile: person.setup.serviceFile, encoding: .utf8)
        #expect(file.contains("\nName=org.freedesktop.secrets\nExec=/usr/libexec/latchkey-secrets --serve\n"))
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: person.setup.link)
                == "/usr/lib/systemd/user/latchkey-secrets.service")
        try person.run("enable")
        try person.run("status", "--json")
        #expect(person.written.all.last == "{\"enabled\":true,\"provider\":null}\n")
        try person.run("disable")
        #expect(!person.setup.isEnabled && !Files.exists(person.setup.link) && !Files.exists(person.setup.serviceFile))
        try person.run("disable")
    }

    @Test func aFileThatNamesAnotherKeyringStays() throws {
        let person = try Person(PrivateBusAddress.shared())
        let folder = Files.folder(of: person.setup.serviceFile)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "[D-BUS Service]\n".write(toFile: person.setup.serviceFile, atomically: true, encoding: .utf8)
        #expect(throws: Failure(.duplicateItem)) { try person.run("enable") }
        try person.run("disable")
        #expect(Files.exists(person.setup.serviceFile))
    }

    @Test func aWrongCommandLineIsRefused() throws {
        let person = try Person(PrivateBusAddress.shared())
        #expect(throws: Failure(.itemNotFound), "no keyring serves the session") { try person.run("export") }
        for line in ["", "x", "enable --json", "status --x", "import --json --json", "export --x", "answers --forget"] {
            #expect(throws: Failure(.invalidParameter)) {
                try person.withoutBus().run(line.split(separator: " ").map(String.init))
            }
        }
    }

    @Test func answersAreListedWithoutABus() throws {
        let person = try Person(PrivateBusAddress.shared())
        try person.withoutBus().run(["answers"])
        #expect(person.written.all == ["No program may always or never read an item of another one.\n"])
        #expect { try person.withoutBus().run(["status"]) } throws: { ($0 as? Failure)?.status == .daemonUnavailable }
    }
}

/// One bus without a provider for all tests.
enum PrivateBusAddress {
    private static let bus = Result { try PrivateBus() }
    static func shared() throws -> String { try bus.get().address }
}

extension Need {
    static let otherKeyring = Need(
        "gnome-keyring-daemon and secret-tool: apt-get install gnome-keyring libsecret-tools"
    ) {
        access("/usr/bin/gnome-keyring-daemon", X_OK) == 0 && access("/usr/bin/secret-tool", X_OK) == 0
    }
}

/// The items of gnome-keyring.
@Suite(.needs(.messageBus), .needs(.otherKeyring), .timeLimit(.minutes(2))) struct ImportTests {
    private let bus: PrivateBus
    private let folder: TemporaryFolder
    private let client: SecretClient
    private let environment: [String: String]
    private let keyring: ChildProcess

    init() throws {
        bus = try PrivateBus()
        folder = try TemporaryFolder()
        client = try SecretClient(bus.address)
        environment = [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            "XDG_DATA_HOME": folder.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]
        let owners = Recorder<BusSignal>()
        client.bus.run { [bus = client.bus] in
            bus.observe("type='signal',member='NameOwnerChanged',arg0='\(SecretProvider.name)'", owners.add)
        }
        // The rule is there when the bus has answered.
        try #require(try client.conversation.owner(of: SecretProvider.name) == nil, "the bus is new")
        let (password, input) = try Sockets.pair()
        keyring = try ChildProcess.start(
            "/usr/bin/gnome-keyring-daemon", ["--foreground", "--unlock", "--components=secrets"],
            environment: environment.map { "\($0.key)=\($0.value)" }, descriptors: [input, nil, nil])
        try Array("password".utf8).withUnsafeBytes { try password.write(all: $0) }
        Sockets.shutDown(password)
        try owners.first { $0.arguments.last?.text?.isEmpty == false }
    }

    /// Makes a collection without a prompt, as gnome-keyring does for its own programs.
    private func makeCollection(_ label: String) throws {
        let session = try client.plainSession()
        let properties = BusValue.list([
            .list([.string("org.freedesktop.Secret.Collection.Label"), .variant("s", .string(label))])
        ])
        try client.call(
            SecretObject.root, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "CreateWithMasterPassword",
            "a{sv}(oayays)", properties, .secret("password", session))
    }

    private func store(_ label: String, _ pairs: [String], _ secret: String) throws {
        let tool = Process()
        tool.executableURL = URL(filePath: "/usr/bin/secret-tool")
        tool.arguments = ["store", "--label=\(label)"] + pairs
        tool.environment = environment
        let input = Pipe()
        tool.standardInput = input
        try tool.run()
        try input.fileHandleForWriting.write(contentsOf: Data(secret.utf8))
        try input.fileHandleForWriting.close()
        tool.waitUntilExit()
        try #require(tool.terminationStatus == 0)
    }

    @Test func theItemsOfGNOMEKeyringAreCopiedOnce() throws {
        defer { keyring.end(within: 0) }
        try store("One", ["site", "example.org"], "first")
        try store("Zwei", ["site", "example.com", "user", "ädä"], "zweites")
        let person = try Person(bus.address)
        #expect(throws: Failure(.duplicateItem)) { try person.run("enable") }
        #expect(!person.setup.isEnabled)

        try person.run("import", "--dry-run", "--json")
        #expect(person.written.all.last == "{\"dryRun\":true,\"copied\":2,\"present\":0,\"failed\":[]}\n")
        #expect(person.keeper.items.isEmpty)
        try person.run("import")
        #expect(person.written.all.last == "2 items were copied.\n")
        let copied = person.keeper.items.map(\.new).sorted { $0.label < $1.label }
        #expect(copied.map(\.label) == ["One", "Zwei"])
        #expect(copied.map(\.secret) == [SecretBytes("first".utf8), SecretBytes("zweites".utf8)])
        #expect(copied.last?.pairs.contains(try .of(("site", "example.com"), ("user", "ädä"))) == true)
        #expect(copied.allSatisfy { $0.collection == "login" && $0.contentType.hasPrefix("text/plain") })
        try person.run("import", "--json")
        #expect(person.written.all.last == "{\"dryRun\":false,\"copied\":0,\"present\":2,\"failed\":[]}\n")
        #expect(person.keeper.items.count == 2)
    }

    @Test func theItemsAreCopiedToGNOMEKeyringOnceAndBack() throws {
        defer { keyring.end(within: 0) }
        try makeCollection("Work")
        let person = try Person(bus.address)
        let work = try person.keeper.addCollection("Work")
        person.keeper.add(try .of(("site", "example.org")), "first")
        person.keeper.addForeign(try .of(("site", "example.com"), ("user", "ädä"), ("xdg:schema", "x")), "zweites")
        person.keeper.add(try .of(("site", "example.net")), "third", collection: work)
        person.keeper.person { (_) throws(Failure) in throw Failure(.userCancel) }
        #expect(throws: Failure(.userCancel)) { try person.run("export") }
        person.keeper.person(nil)

        try person.run("export", "--dry-run", "--json")
        #expect(person.written.all.last == "{\"dryRun\":true,\"copied\":3,\"present\":0,\"failed\":[]}\n")
        try person.run("export")
        #expect(person.written.all.last == "3 items were copied.\n")
        try person.run("export", "--json")
        #expect(person.written.all.last == "{\"dryRun\":false,\"copied\":0,\"present\":3,\"failed\":[]}\n")
        #expect(person.keeper.items.count == 3)

        let other = try Person(bus.address)
        try other.run("import", "--json")
        #expect(other.written.all.last == "{\"dryRun\":false,\"copied\":3,\"present\":0,\"failed\":[]}\n")
        let (sent, received) = (person.keeper.items.map(\.new), other.keeper.items.map(\.new))
        for item in sent {
            let copy = try #require(received.first { $0.pairs.contains(item.pairs) })
            #expect(copy.label == item.label && copy.secret == item.secret)
        }
        #expect(Set(received.map(\.collection)).count == 2)
    }
    /// gnome-keyring asks for the password of a new collection, and nothing shows its prompt here.
    @Test func itemsOfACollectionThatIsNotMadeAreNamedAndOthersCopied() throws {
        defer { keyring.end(within: 0) }
        let person = try Person(bus.address)
        let work = try person.keeper.addCollection("Work")
        person.keeper.add(try .of(("site", "example.net")), "third", collection: work)
        person.keeper.add(try .of(("site", "example.org")), "first")
        #expect(throws: Failure(.itemNotFound)) { try person.run("export", "--json") }
        let reason = "The other keyring has made no collection."
        #expect(
            person.written.all.last
                == "{\"dryRun\":false,\"copied\":1,\"present\":0,\"failed\":[{\"label\":\"own\",\"reason\":\"\(reason)\"}]}\n"
        )
        try makeCollection("Work")
        try person.run("export", "--json")
        #expect(person.written.all.last == "{\"dryRun\":false,\"copied\":1,\"present\":1,\"failed\":[]}\n")
    }
}
