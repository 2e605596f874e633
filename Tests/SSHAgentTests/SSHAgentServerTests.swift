// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

@testable import SSHAgent

/// Programs that misbehave, at a real socket.
@Suite struct SSHAgentServerTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/agent.sock"
    }

    /// Starts a server, which ends with the process of the tests.
    private func serve(
        _ store: ScriptedKeyStore, _ options: SSHAgent.Options = SSHAgent.Options(), idleSeconds: Int64 = 20,
        user: UInt32 = geteuid()
    ) throws {
        let agent = SSHAgent(store, options, hosts: KnownHostsFiles([]), idleSeconds: idleSeconds) { _ in }
        let server = SSHAgentServer(try Sockets.listen(path), agent, user: user)
        Processes.detachThread { try? server.run() }
    }

    private func connect() throws -> Descriptor { try Sockets.connect(path, seconds: 20) }

    private func send(_ socket: Descriptor, _ body: [UInt8]) throws {
        try socket.write(all: Message.framed(body))
    }

    /// The body of the next reply; nil when the agent has ended the connection.
    private func receive(_ socket: Descriptor) throws -> [UInt8]? {
        guard let head = try read(socket, 4) else { return nil }
        return try read(socket, head.reduce(0) { $0 << 8 | Int($1) })
    }

    private func read(_ socket: Descriptor, _ count: Int) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            try #require(try socket.wait(for: POLLIN, until: Uptime.deadline(seconds: 20)), "no reply in time")
            var part = [UInt8](repeating: 0, count: count - bytes.count)
            let got = Glibc.read(socket.number, &part, part.count)
            guard got > 0 else { return nil }
            bytes += part[..<got]
        }
        return bytes
    }

    private func call(_ socket: Descriptor, _ body: [UInt8]) throws -> [UInt8]? {
        try send(socket, body)
        return try receive(socket)
    }

    @Test func keysAreListedAndAMessageIsSigned() throws {
        let store = try ScriptedKeyStore()
        try serve(store)
        let socket = try connect()
        let listed = try #require(try call(socket, [11]))
        #expect(listed.starts(with: [12, 0, 0, 0, 1]))
        let data = Message.sshsig
        let reply = try #require(try call(socket, Message.sign(store.sshKey.blob, data)))
        #expect(reply.first == 14)
        #expect(store.state.withLock { $0.prompts.first ?? "" }.hasPrefix("sign data of namespace git, asked by "))
    }

    @Test func garbageIsRefusedAndTheNextMessageIsServed() throws {
        let store = try ScriptedKeyStore()
        try serve(store)
        let socket = try connect()
        for body in [[13], [13, 0xff, 0xff, 0xff, 0xff], [17, 1], [18], [19], [20], [25], [26], [99], [11, 0]] {
            #expect(try call(socket, body.map { UInt8($0) }) == [5], "\(body)")
        }
        #expect(try call(socket, Message.sign(store.sshKey.blob, Array("hello".utf8))) == [5])
        #expect(try call(socket, Message.sign([1, 2, 3], Message.sshsig)) == [5])
        #expect(try call(socket, [27] + Message.string("other@example.com")) == [5])
        let names = Message.string("query") + Message.string("session-bind@openssh.com")
        #expect(try call(socket, [27] + Message.string("query")) == [29] + names)
        #expect(try call(socket, [11])?.first == 12)
        #expect(store.promptCount == 0)
    }

    @Test(.promise("ssh.bind")) func malformedBindEndsEverySignatureOfItsConnection() throws {
        let store = try ScriptedKeyStore()
        var options = SSHAgent.Options()
        options.allowsUnbound = true
        try serve(store, options)
        let socket = try connect()
        #expect(try call(socket, [27] + Message.string("session-bind@openssh.com")) == [28])
        #expect(try call(socket, Message.sign(store.sshKey.blob, Message.sshsig)) == [5])
        #expect(try call(connect(), Message.sign(store.sshKey.blob, Message.sshsig))?.first == 14)
    }

    @Test(arguments: [[0, 0, 0, 0], [0, 4, 0, 1], [0xff, 0xff, 0xff, 0xff]] as [[UInt8]])
    func impossibleLengthEndsTheConnection(length: [UInt8]) throws {
        try serve(try ScriptedKeyStore())
        let socket = try connect()
        try socket.write(all: length + [11])
        #expect(try receive(socket) == nil)
    }

    @Test(.promise("ssh.others")) func silentAndHalfMessagesDelayNoOtherProgram() throws {
        try serve(try ScriptedKeyStore())
        let silent = try (0..<4).map { _ in try connect() }
        let halves = try (0..<4).map { _ in try connect() }
        for half in halves { try half.write(all: [0, 0, 1, 0, 13, 0]) }
        #expect(try call(connect(), [11])?.first == 12)
        withExtendedLifetime((silent, halves)) {}
    }

    @Test func silentConnectionEnds() throws {
        try serve(try ScriptedKeyStore(), idleSeconds: 0)
        #expect(try receive(connect()) == nil)
    }

    @Test(.promise("ssh.others")) func connectionsOfOneProcessAreLimited() throws {
        try serve(try ScriptedKeyStore())
        var served: [Descriptor] = []
        for number in 0..<40 {
            let socket = try connect()
            if (try? call(socket, [11])) != nil { served.append(socket) } else { #expect(number >= 16) }
        }
        #expect(served.count == SSHAgentLimits.connectionsOfProcess)
    }

    @Test func anotherUserIsNotServed() throws {
        try serve(try ScriptedKeyStore(), user: geteuid() + 1)
        #expect((try? call(connect(), [11])).flatMap { $0 } == nil)
    }

    @Test func lockedAgentListsAndSignsNothing() throws {
        let store = try ScriptedKeyStore()
        try serve(store)
        let socket = try connect()
        #expect(try call(socket, [22] + Message.string("word")) == [6])
        #expect(try call(socket, [22] + Message.string("word")) == [5])
        #expect(try call(socket, [11]) == [12, 0, 0, 0, 0])
        #expect(try call(connect(), Message.sign(store.sshKey.blob, Message.sshsig)) == [5])
        #expect(try call(socket, [23] + Message.string("other")) == [5])
        #expect(try call(connect(), [23] + Message.string("word")) == [6])
        #expect(try call(socket, [11])?.starts(with: [12, 0, 0, 0, 1]) == true)
        #expect(store.promptCount == 0)
    }

    @Test func signatureThatIsReleasedWhileTheAgentIsLockedIsNotSent() throws {
        let (shown, released) = (Gate(), Gate())
        let store = try ScriptedKeyStore { _ in
            shown.open()
            released.wait()
            return true
        }
        try serve(store)
        let socket = try connect()
        try send(socket, Message.sign(store.sshKey.blob, Message.sshsig))
        shown.wait()
        #expect(try call(connect(), [22] + Message.string("word")) == [6])
        released.open()
        #expect(try receive(socket) == [5])
    }

    @Test func programThatGoesRevokesItsProof() throws {
        let (shown, revoked) = (Gate(), Gate())
        let store = try ScriptedKeyStore { _ in
            shown.open()
            revoked.wait()
            return true
        }
        try serve(store)
        let socket = try connect()
        try send(socket, Message.sign(store.sshKey.blob, Message.sshsig))
        shown.wait()
        Sockets.shutDown(socket)
        let deadline = Uptime.deadline(seconds: 20)
        while store.state.withLock({ $0.revoked.isEmpty }), Uptime.nanoseconds < deadline { sched_yield() }
        #expect(store.state.withLock { $0.revoked } == [1])
        revoked.open()
    }
}

extension SSHAgentServerTests {
    /// A server, whose signature of a session it makes itself.
    private struct Server {
        let key: PrivateKey
        let session = [UInt8](repeating: 5, count: 32)

        init() throws { key = try .generate(.p256) }

        var blob: [UInt8] { SSHKeyBlob.encode(key.publicKey) ?? [] }

        func bind(forwarding: Bool = false, signing other: [UInt8]? = nil) throws -> [UInt8] {
            let raw = try key.signECDSA(try DigestAlgorithm.sha256.hash(other ?? session))
            let signature = SSHKeyBlob.signature(raw: raw) ?? []
            return [27] + Message.string(SessionBind.name) + Message.string(blob) + Message.string(session)
                + Message.string(signature) + [forwarding ? 1 : 0]
        }

        func login(_ key: [UInt8], user: String = "ada", isHostbound: Bool = false) -> [UInt8] {
            let method = isHostbound ? "publickey-hostbound-v00@openssh.com" : "publickey"
            let data =
                Message.string(session) + [50] + Message.string(user) + Message.string("ssh-connection")
                + Message.string(method) + [1] + Message.string(SSHKeyBlob.algorithm) + Message.string(key)
            return Message.sign(key, data + (isHostbound ? Message.string(blob) : []))
        }
    }

    @Test(.promise("ssh.login")) func boundLoginIsSignedAndAnyOtherIsNot() throws {
        let (store, server) = (try ScriptedKeyStore(), try Server())
        try serve(store)
        let socket = try connect()
        #expect(try call(socket, server.login(store.sshKey.blob)) == [5], "before the session is bound")
        #expect(try call(socket, server.bind()) == [6])
        #expect(try call(socket, server.login(store.sshKey.blob))?.first == 14)
        #expect(try call(socket, Message.sign(store.sshKey.blob, Message.sshsig)) == [5])
        #expect(try call(connect(), server.login(store.sshKey.blob)) == [5], "another connection has bound nothing")
        let wrong = try connect()
        #expect(try call(wrong, server.bind(signing: [1])) == [28])
        #expect(try call(wrong, server.bind()) == [28])
        #expect(try call(wrong, server.login(store.sshKey.blob)) == [5])
        #expect(store.promptCount == 1)
    }

    @Test func sameProcessLogsInAgainWithoutAPromptOnlyToTheSameHostAsTheSameUser() throws {
        let (store, server) = (try ScriptedKeyStore(), try Server())
        var options = SSHAgent.Options()
        options.reuseSeconds = 60
        try serve(store, options)
        func prompts(_ server: Server, user: String = "ada", forwarding: Bool = false) throws -> Int {
            let socket = try connect()
            if forwarding {
                let near = try Server()
                var other = try near.bind(forwarding: true)
                // Another session than the one of the login.
                let place = 5 + SessionBind.name.utf8.count + 4 + near.blob.count + 4
                other.replaceSubrange(place..<place + 32, with: [UInt8](repeating: 6, count: 32))
                let raw = try near.key.signECDSA(
                    try DigestAlgorithm.sha256.hash([UInt8](repeating: 6, count: 32)))
                other.replaceSubrange((place + 32)..., with: Message.string(SSHKeyBlob.signature(raw: raw) ?? []) + [1])
                #expect(try call(socket, other) == [6])
            }
            #expect(try call(socket, server.bind()) == [6])
            let login = server.login(store.sshKey.blob, user: user, isHostbound: forwarding)
            #expect(try call(socket, login)?.first == 14)
            return store.promptCount
        }
        #expect(try prompts(server) == 1)
        #expect(try prompts(server) == 1)
        #expect(try prompts(server, user: "bob") == 2)
        #expect(try prompts(Server()) == 3)
        #expect(try prompts(server, forwarding: true) == 4)
        #expect(try prompts(server, forwarding: true) == 5)
        #expect(try call(connect(), [22] + Message.string("word")) == [6])
        #expect(try call(connect(), [23] + Message.string("word")) == [6])
        #expect(try prompts(server) == 6, "locking revokes proofs")
    }
}

/// Messages as a program sends them.
enum Message {
    static func string(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }

    static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

    static func sign(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] { [13] + string(key) + string(data) + [0, 0, 0, 0] }

    /// A message of git.
    static let sshsig =
        Array("SSHSIG".utf8) + string("git") + string("") + string("sha512") + string([UInt8](repeating: 7, count: 64))

    static func framed(_ body: [UInt8]) -> SecretBytes { SecretBytes(string(body)) }
}

extension Descriptor {
    fileprivate func write(all bytes: [UInt8]) throws { try write(all: SecretBytes(bytes)) }

    fileprivate func write(all bytes: SecretBytes) throws {
        try bytes.withBytes { (bytes) throws(SystemError) in
            var rest = bytes
            while !rest.isEmpty {
                let count = try Sockets.send(self, rest) ?? 0
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
