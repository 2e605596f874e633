// SPDX-License-Identifier: Apache-2.0

import BusTestSupport
import Foundation
import LatchkeyModel
import TestSupport
import Testing

@testable import latchkey_secrets

extension Need {
    static let secretTool = Need("secret-tool: apt-get install libsecret-tools") {
        access("/usr/bin/secret-tool", X_OK) == 0
    }
    static let secretStorage = Need("python3-secretstorage and python3-keyring: apt-get install both") {
        access("/usr/lib/python3/dist-packages/secretstorage", R_OK) == 0
            && access("/usr/lib/python3/dist-packages/keyring", R_OK) == 0
    }
}

/// A program of Debian on the bus of a test.
struct Tool {
    let bus: SecretBus

    /// Runs a program and returns its exit status and standard output.
    func run(_ arguments: [String], input: String? = nil) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = bus.environment
        process.currentDirectoryURL = URL(filePath: bus.bus.folder.path)
        let (near, far) = (Pipe(), Pipe())
        process.standardInput = near
        process.standardOutput = far
        try process.run()
        if let input { try near.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
        try near.fileHandleForWriting.close()
        let output = far.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    func python(_ program: String) throws -> String {
        let (status, output) = try run(["python3", "-c", program])
        try #require(status == 0, "\(output)")
        return output
    }
}

/// Programs of Debian that were not written for this provider.
@Suite(.needs(.messageBus), .timeLimit(.minutes(2))) struct ToolTests {
    @Test(.needs(.secretTool)) func secretToolStoresFindsAndClears() throws {
        let tool = Tool(bus: try SecretBus())
        let stored = try tool.run(
            ["secret-tool", "store", "--label=A site", "site", "example.org", "user", "ada"], input: "open sesame")
        #expect(stored.status == 0)
        #expect(try tool.run(["secret-tool", "lookup", "site", "example.org"]).output == "open sesame")
        #expect(try tool.run(["secret-tool", "lookup", "site", "example.com"]).status == 1)
        let found = try tool.run(["secret-tool", "search", "--all", "user", "ada"]).output
        #expect(found.contains("label = A site\n") && found.contains("secret = open sesame\n"))
        #expect(try tool.run(["secret-tool", "clear", "user", "ada"]).status == 0)
        #expect(tool.bus.keeper.items.isEmpty)
    }

    @Test(.needs(.secretTool)) func secretToolReplacesAnItemWithTheSamePairs() throws {
        let tool = Tool(bus: try SecretBus())
        for secret in ["one", "two"] {
            #expect(try tool.run(["secret-tool", "store", "--label=x", "a", "b"], input: secret).status == 0)
        }
        #expect(try tool.run(["secret-tool", "lookup", "a", "b"]).output == "two")
        #expect(tool.bus.keeper.items.count == 1)
    }

    @Test(.needs(.secretTool)) func secretToolReadsAnItemOfAnotherProgramAfterThePersonWasAsked() throws {
        let tool = Tool(bus: try SecretBus())
        tool.bus.keeper.addForeign(try .of(("site", "example.org")), "not yours")
        tool.bus.keeper.person { (_) throws(Failure) in }
        #expect(try tool.run(["secret-tool", "lookup", "site", "example.org"]).output == "not yours")
        tool.bus.keeper.person { (_) throws(Failure) in throw Failure(.userCancel) }
        #expect(try tool.run(["secret-tool", "lookup", "site", "example.org"]).status != 0)
    }

    @Test(.needs(.secretTool)) func secretToolUnlocksALockedKeychain() throws {
        let tool = Tool(bus: try SecretBus())
        #expect(try tool.run(["secret-tool", "store", "--label=x", "a", "b"], input: "c").status == 0)
        tool.bus.keeper.setLocked(true)
        #expect(try tool.run(["secret-tool", "lookup", "a", "b"]).output == "c")
        #expect(try !tool.bus.keeper.isLocked())
        tool.bus.keeper.setLocked(true)
        tool.bus.keeper.person { (_) throws(Failure) in throw Failure(.userCancel) }
        #expect(try tool.run(["secret-tool", "lookup", "a", "b"]).status != 0)
    }

    @Test(.needs(.secretStorage)) func secretstorageUsesEveryMethod() throws {
        let tool = Tool(bus: try SecretBus())
        let output = try tool.python(
            """
            import secretstorage
            bus = secretstorage.dbus_init()
            assert secretstorage.check_service_availability(bus)
            c = secretstorage.get_default_collection(bus)
            assert c.get_label() == 'Login' and not c.is_locked()
            item = c.create_item('Label', {'a': 'b', 'number': '1'}, b'secret', content_type='text/x-test')
            assert item.get_secret() == b'secret' and item.get_secret_content_type() == 'text/x-test'
            assert item.get_label() == 'Label' and item.get_attributes() == {'a': 'b', 'number': '1'}
            assert item.get_created() > 0 and item.get_modified() > 0 and not item.is_locked()
            item.set_label('Other'); assert item.get_label() == 'Other'
            item.set_attributes({'c': 'd'}); assert item.get_attributes() == {'c': 'd'}
            item.set_secret(b'\\0\\xff'); assert item.get_secret() == b'\\0\\xff'
            assert [i.item_path for i in c.search_items({'c': 'd'})] == [item.item_path]
            assert list(c.search_items({'a': 'b'})) == []
            assert len(list(c.get_all_items())) == 1
            assert not c.unlock()
            other = secretstorage.create_collection(bus, 'Mine')
            assert other.get_label() == 'Mine'
            other.set_label('Yours'); assert other.get_label() == 'Yours'
            assert len(list(secretstorage.get_all_collections(bus))) == 3
            other.delete()
            assert len(list(secretstorage.get_all_collections(bus))) == 2
            any = secretstorage.get_any_collection(bus)
            s = secretstorage.Collection(bus, '/org/freedesktop/secrets/collection/session')
            t = s.create_item('Temporary', {'t': 'u'}, b'short')
            assert t.get_secret() == b'short'
            assert len(list(secretstorage.search_items(bus, {'t': 'u'}))) == 1
            t.delete()
            item.delete()
            assert list(c.get_all_items()) == []
            try:
                item.get_secret(); assert False
            except secretstorage.exceptions.ItemNotFoundException: pass
            print('done')
            """)
        #expect(output == "done\n")
    }

    @Test(.needs(.secretStorage)) func keyringStoresAndFinds() throws {
        let tool = Tool(bus: try SecretBus())
        let output = try tool.python(
            """
            import keyring
            from keyring.backends import SecretService
            keyring.set_keyring(SecretService.Keyring())
            assert keyring.get_password('service', 'ada') is None
            keyring.set_password('service', 'ada', 'pässword')
            assert keyring.get_password('service', 'ada') == 'pässword'
            keyring.set_password('service', 'ada', 'other')
            assert keyring.get_password('service', 'ada') == 'other'
            assert keyring.get_credential('service', None).username == 'ada'
            keyring.delete_password('service', 'ada')
            assert keyring.get_password('service', 'ada') is None
            print('done')
            """)
        #expect(output == "done\n")
    }
}
