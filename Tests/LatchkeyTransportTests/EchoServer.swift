// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Synchronization

/// A server in this process that sends every frame back, with a manual clock and configurable limits.
final class EchoServer: FrameHandler {
    struct Setting: Sendable {
        var caps = ConnectionCaps.Bounds()
        var bytes = ByteBudget.Bounds()
        /// Whether the memory of a frame stays counted until `release`, as for a request without an answer.
        var keepsWhatFramesHold = false
        var restSeconds = Limits.restSeconds
        var firstFrameSeconds: Int64?
        var bindsToSender = false
    }

    private final class Receiver: FrameReceiver {
        private let server: EchoServer
        private weak let connection: FrameConnection?

        init(_ server: EchoServer, _ connection: FrameConnection) {
            self.server = server
            self.connection = connection
        }

        func received(_ payload: SecretBytes, holding held: HeldBytes) {
            if server.setting.keepsWhatFramesHold, payload.count > 100 { server.held.withLock { $0.append(held) } }
            connection?.send(payload)
        }

        func refused(_ error: FrameError) { connection?.send(SecretBytes("refused".utf8)) }

        func disconnected() { server.ended.add(1, ordering: .sequentiallyConsistent) }
    }

    private let setting: Setting
    private let path: String
    private let time = Mutex<Int64>(1)
    private let held = Mutex<[HeldBytes]>([])
    private let ended = Atomic(0)
    private let rests = Atomic(0)
    private let acceptFailure = Mutex<(code: CInt?, count: Int)>((nil, 0))
    // Set once, before the server's thread starts: the server needs its handler, which is this object.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    nonisolated(unsafe) private(set) var server: FrameServer!

    init(_ setting: Setting = Setting()) throws {
        self.setting = setting
        var template = Array("/tmp/latchkey-transport.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/socket"
        var deadlines = FrameServer.Deadlines()
        deadlines.now = { [unowned self] in time.withLock { $0 } }
        deadlines.firstFrameSeconds = setting.firstFrameSeconds
        let listener = try Sockets.listen(path)
        if setting.bindsToSender { try Sockets.recordSenders(listener) }
        server = try FrameServer(
            listener, handler: self, idleSeconds: 3600, restSeconds: setting.restSeconds,
            deadlines: deadlines, bindsToSender: setting.bindsToSender, caps: setting.caps, bytes: setting.bytes
        ) { [unowned self] (listener) throws(SystemError) in
            let code = acceptFailure.withLock { failure in
                if failure.code != nil { failure.count += 1 }
                return failure.code
            }
            if let code { throw SystemError("accept4", code: code) }
            return try Sockets.accept(listener)
        }
        // The thread retains this object until `stop`.
        Processes.detachThread { [self] in
            try? server.run()
            unlink(path)
            rmdir(Files.folder(of: path))
        }
    }

    func stop() { server.stop() }

    func advance(seconds: Int64) { time.withLock { $0 += seconds * 1_000_000_000 } }

    /// Makes accepting fail with this error from now on; nil makes it succeed again.
    func failAccepting(with code: CInt?) { acceptFailure.withLock { $0.code = code } }

    /// Number of failed attempts to accept.
    var refusedAccepts: Int { acceptFailure.withLock { $0.count } }

    /// Releases the memory of all frames so far.
    func release() { held.withLock { $0 = [] } }

    /// Number of frames whose memory is counted.
    var heldFrames: Int { held.withLock { $0.count } }

    /// Number of connections that have ended.
    var endedCount: Int { ended.load(ordering: .sequentiallyConsistent) }

    /// How often the server has reported that nothing happens.
    var restCount: Int { rests.load(ordering: .sequentiallyConsistent) }

    func connect() throws -> EchoClient { try EchoClient(Sockets.connect(path)) }

    /// Returns when the server has processed everything sent before: it answers a second request only in a later turn
    /// of its loop.
    func settle() throws {
        let client = try connect()
        for _ in 0..<3 { _ = try client.echo([1]) }
    }

    // MARK: - FrameHandler

    func serves(_ peer: PeerCredentials) -> Bool { true }
    func connected(_ connection: FrameConnection) -> (any FrameReceiver)? { Receiver(self, connection) }
    func payload(of refusal: Failure) -> SecretBytes { SecretBytes(refusal.message.description.utf8) }
    func mayStop() -> Bool { true }
    func rested() { rests.add(1, ordering: .sequentiallyConsistent) }
}

/// A client of the server.
struct EchoClient {
    let socket: Descriptor

    init(_ socket: Descriptor) { self.socket = socket }

    func send(frame payload: [UInt8]) throws { try Frame.send(SecretBytes(payload), to: socket) }

    func send(_ bytes: [UInt8]) throws {
        _ = try SecretBytes(bytes).withBytes { (bytes) throws(SystemError) in try Sockets.send(socket, bytes) }
    }

    /// Sends until the socket's buffer is full.
    func fill() throws {
        _ = fcntl(socket.number, F_SETFL, O_NONBLOCK)
        let bytes = SecretBytes([UInt8](repeating: 0xff, count: 4096))
        while try bytes.withBytes({ (bytes) throws(SystemError) in try Sockets.send(socket, bytes) }) != nil {}
        _ = fcntl(socket.number, F_SETFL, 0)
    }

    /// The next frame's payload; nil at the end of the connection.
    func receive() throws -> [UInt8]? {
        do throws(FrameError) {
            return try Frame.receive(from: socket, until: Uptime.deadline(seconds: 20)).copyBytes()
        } catch {
            guard error == .closed else { throw error }
            return nil
        }
    }

    func echo(_ payload: [UInt8]) throws -> [UInt8]? {
        try send(frame: payload)
        return try receive()
    }
}
