// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeyFileDriver
import LatchkeyHost
import LatchkeyKeychain
import LatchkeyKeys
import LatchkeyModel
import LatchkeySystem
import SQLiteDriver
import SystemDriver
import TestSupport
import Testing

/// What of a private key stays in the memory of running processes after it was used.
@Suite(.needs(.otherMemory)) struct KeyMemoryTests {
    private let daemon: TestDaemon
    private let client: RawClient

    init() throws {
        daemon = try TestDaemon(simulated: true)
        try daemon.start()
        client = try RawClient(daemon, hello: Request.Hello(application: "test"))
    }

    /// Whether the daemon's memory holds nothing of the secret. An answer leaves before the daemon has let go of what it
    /// was made of, so it is looked at again, and between the looks the daemon has something else to do.
    private func forgets(_ secret: SecretBytes, _ memory: ProcessMemory) throws -> Bool {
        for _ in 0..<20 {
            if memory.count(ofHalvesOf: secret) == 0 { return true }
            _ = try client.call(.status)
        }
        return false
    }

    // MARK: - The daemon

    @Test func theDaemonForgetsWhatItsWriterStored() throws {
        // Two programs are connected, so that the thread of its own writes: its loop once kept every secret.
        let secrets = (0..<4).map { _ in SecretTrace.makeSecret(byteCount: 64) }
        for (number, secret) in secrets.enumerated() {
            let text = secret.withBytes { bytes in String(decoding: bytes.map { 97 + $0 % 26 }, as: UTF8.self) }
            let stored = try daemon.run("latchkey", ["set", "item \(number)"], input: text)
            #expect(stored.exitCode == 0, "\(stored.errors)")
            let memory = try ProcessMemory(try daemon.process)
            #expect(try forgets(SecretBytes(text.utf8), memory))
        }
    }

    @Test func theDaemonKeepsNothingOfAnEnclaveKeyAfterItsUse() throws {
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
        // The search knows what to look for: the scalar gives the key.
        let pair = try #require(PrivateKey(scalar: scalar, curve: .p256))
        #expect(pair.publicKey.externalRepresentation == key.publicKey)

        let process = try #require(try daemon.process)
        let memory = try ProcessMemory(process)
        #expect(memory.count(of: [Array(daemon.folder.utf8)]) > 0, "what is certainly there is found")
        #expect(try forgets(scalar, memory))
        #expect(try daemon.process == process, "it is the daemon that used the key")
    }

    private func tagged(_ tag: String) -> Request.CreateEnclaveKey {
        Request.CreateEnclaveKey(
            attributes: [.applicationTag: .data(Array(tag.utf8))],
            accessControl: AccessControl(constraints: .privateKeyUsage), isPermanent: true,
            authentication: Authentication())
    }

    /// Opens a copy of the store with its own keys, as the daemon does, and reads what the enclave made of the key.
    private func scalar(of key: EnclaveKey) throws -> SecretBytes {
        let copy = try TestDaemon()
        // Not the lock: it names the process that the value ends.
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
        // A software enclave's blob: 01, scalar, point.
        return opened.blob.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[1..<33])) }
    }

    // MARK: - The app

    @Test func anAppKeepsNothingOfAKeyThatItDropped() throws {
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

        // Read after the app was, so that nothing of this has to do with the app.
        let query = ItemQuery(
            itemClass: .key, attributes: [.applicationTag: .data(Array("used".utf8)), .keyClass: .number(1)])
        let copy = Request.CopyItems(query: query, limit: 1, returns: .data, authentication: Authentication())
        guard case .items(let items, _) = try client.call(.copyItems(copy)), let secret = items.first?.secret else {
            Issue.record("the key was not found")
            return
        }
        let scalar = secret.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.suffix(32))) }
        let memory = try ProcessMemory(process)
        #expect(memory.count(of: [Array(daemon.folder.utf8)]) > 0, "what is certainly there is found")
        #expect(memory.count(ofHalvesOf: scalar) == 0)

        // The daemon has handed the key out twice, and keeps nothing of it either.
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
