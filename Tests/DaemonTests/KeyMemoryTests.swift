// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyCrypto
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyService
import LatchkeySystem
import SQLiteDriver
import SystemDriver
import TestPromises
import TestSupport
import Testing

/// Searches running processes for remnants of private keys after use.
@Suite(.needs(.otherMemory)) struct KeyMemoryTests {
    private let daemon: TestDaemon
    private let client: RawClient

    init() throws {
        daemon = try TestDaemon(simulated: true)
        try daemon.start()
        client = try RawClient(daemon, hello: Request.Hello(application: "test"))
    }

    /// Whether the secret disappears from the daemon's memory. A reply is sent before the daemon has released its
    /// buffers, so the search is repeated, with other requests in between.
    private func forgets(_ secret: SecretBytes, _ memory: ProcessMemory) throws -> Bool {
        for _ in 0..<20 {
            if memory.count(ofHalvesOf: secret) == 0 { return true }
            _ = try client.call(.status)
        }
        return false
    }

    // MARK: - The daemon

    @Test func daemonWipesStoredSecretsAfterWriting() throws {
        // With two connected programs the writer thread does the writing; its loop once retained every secret.
        let secrets = (0..<4).map { _ in SecretTrace.makeSecret(byteCount: 64) }
        for (number, secret) in secrets.enumerated() {
            let text = secret.withBytes { bytes in String(decoding: bytes.map { 97 + $0 % 26 }, as: UTF8.self) }
            let stored = try daemon.run("latchkey", ["set", "--protect", "none", "item \(number)"], input: text)
            #expect(stored.exitCode == 0, "\(stored.errors)")
            let memory = try ProcessMemory(try daemon.process)
            #expect(try forgets(SecretBytes(text.utf8), memory))
        }
    }

    @Test(.promise("memory.keys")) func daemonWipesEnclaveKeyAfterUse() throws {
        guard case .enclaveKey(let key) = try client.call(.createEnclaveKey(tagged("seen"))) else {
            Issue.record("no key was made")
            return
        }
        let peer = try PrivateKey.generate(.p256).publicKey
        let digest = [UInt8](repeating: 7, count: 32)
        for operation in [
            EnclaveOperation.sign(digest: digest), .agree(point: peer.externalRepresentation), .sign(digest: digest),
        ] {
            let use = Request.UseEnclaveKey(name: key.name, operation: operation, authentication: Authentication())
            guard case .enclaveResult = try client.call(.useEnclaveKey(use)) else {
                Issue.record("the key was not used")
                return
            }
        }
        let scalar = try self.scalar(of: key)
        // Checks that this scalar belongs to the key.
        let pair = try #require(PrivateKey(scalar: scalar, curve: .p256))
        #expect(pair.publicKey.externalRepresentation == key.publicKey)

        let process = try #require(try daemon.process)
        let memory = try ProcessMemory(process)
        #expect(memory.count(of: [Array(daemon.folder.utf8)]) > 0, "the search finds text that is in memory")
        #expect(try forgets(scalar, memory))
        #expect(try daemon.process == process, "the same daemon used the key")
    }

    private func tagged(_ tag: String) -> Request.CreateEnclaveKey {
        Request.CreateEnclaveKey(
            attributes: [.applicationTag: .data(Array(tag.utf8))],
            accessControl: AccessControl(constraints: .privateKeyUsage), isPermanent: true,
            authentication: Authentication())
    }

    /// Opens a copy of the store with its keys, as the daemon does, and reads the scalar from the enclave's key blob.
    private func scalar(of key: EnclaveKey) throws -> SecretBytes {
        let copy = try TestDaemon()
        // Does not copy the lock, which names a process that would be killed with this object.
        let files = try daemon.run(
            "/bin/sh",
            [
                "-c",
                "cp -p \(daemon.folder)/keychain.sqlite* \(daemon.folder)/*.key \(daemon.folder)/anchor \(daemon.folder)/counters \(copy.folder)",
            ])
        #expect(files.exitCode == 0, "\(files.errors)")
        let folder = StoreFolder(copy.folder)
        let keychain = try StoreIdentity(tier: .simulated, userID: geteuid()).open(
            SQLiteItemStore.open(folder.database), vault: FileKeyVault(folder), clock: SystemClock(),
            random: SystemRandomSource())
        let caller = Caller(groups: ["test"], label: "test", processID: getpid(), userID: geteuid())
        guard
            case .opened(let opened) = try keychain.openKey(key.name, caller: caller, proof: .none, password: .none)
        else { throw Failure(.itemNotFound, "the key was not opened") }
        // The blob of the software enclave consists of 01, scalar and point.
        return opened.blob.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[1..<33])) }
    }

    // MARK: - The app

    @Test(.promise("memory.keys")) func appWipesReleasedKey() throws {
        #expect(try daemon.run("latchkey", ["key", "create", "used"]).exitCode == 0)
        let (near, far) = try Sockets.pair()
        let process = try Processes.spawn(
            TestDaemon.programs + "/latchkey-test-client", ["sign", "used"], environment: daemon.environment,
            descriptors: [far, far, far])
        defer {
            shutdown(near.number, CInt(SHUT_WR))
            #expect(Processes.wait(process) == 0)
        }
        #expect(try word(near) == "signed\n")

        // The key is read here only after the app's signature, so that it cannot affect the app.
        let query = ItemQuery(
            itemClass: .key, attributes: [.applicationTag: .data(Array("used".utf8)), .keyClass: .number(1)])
        let copy = Request.CopyItems(query)
        guard case .items(let items, _) = try client.call(.copyItems(copy)), let secret = items.first?.secret else {
            Issue.record("the key was not found")
            return
        }
        let scalar = secret.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.suffix(32))) }
        let memory = try ProcessMemory(process)
        #expect(memory.count(of: [Array(daemon.folder.utf8)]) > 0, "the search finds text that is in memory")
        #expect(memory.count(ofHalvesOf: scalar) == 0)

        // The daemon has returned the key twice and must not retain it either.
        #expect(try forgets(scalar, ProcessMemory(try daemon.process)))
    }

    private func word(_ stream: Descriptor) throws -> String {
        var text: [UInt8] = []
        let deadline = Uptime.deadline(seconds: 20)
        var buffer = [UInt8](repeating: 0, count: 64)
        while text.last != 0x0a, try stream.wait(for: POLLIN, until: deadline) {
            let step = read(stream.number, &buffer, buffer.count)
            guard step > 0 else { break }
            text += buffer[..<step]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
