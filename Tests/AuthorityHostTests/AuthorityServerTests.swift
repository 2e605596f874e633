// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import SimulatedDriver
import SystemDriver
import TestSupport
import Testing

@testable import AuthorityDaemon

/// The socket of the service channel serves one peer at a time.
@Suite struct AuthorityServerTests {
    private let folder: TemporaryFolder
    private let handler: AuthorityServer
    private let server: FrameServer
    private var path: String { folder.path + "/socket" }

    init() throws {
        folder = try TemporaryFolder()
        let parts = AuthorityConnection.Parts(
            random: SystemRandomSource(), log: CollectedEvents(), sessions: ScriptedSessions(),
            stretching: ImmediateWorkQueue(), passcodeCost: 10
        ) { (_) throws(Failure) in
            throw Failure(.notPermitted, "no program asks")
        } isRunning: { _ in
            false
        } user: { (_) throws(Failure) in
            throw Failure(.notPermitted, "no user is attached")
        }
        handler = AuthorityServer(storeUser: geteuid(), parts: parts) { true }
        server = try FrameServer(Sockets.listen(folder.path + "/socket"), handler: handler, idleSeconds: 3600)
    }

    private func serve() {
        Processes.detachThread { [server, handler, folder] in
            try? server.run()
            withExtendedLifetime((handler, folder)) {}
        }
    }

    /// Closed alone, the connection would last until programs that other tests are starting have closed their copies.
    private func leave(_ peer: Descriptor) { Sockets.shutDown(peer) }

    private func welcome(_ peer: Descriptor) throws -> Bool {
        let frame = try Frame.receive(from: peer, until: Uptime.deadline(seconds: 30), limit: Limits.frameBytes)
        guard case .storeCall(0, .welcome) = try ServiceMessage(decoding: frame) else { return false }
        return true
    }

    /// As when both services restart: the connection of the earlier latchkeyd waits in front of that of the new one.
    @Test func aPeerThatLeftBeforeItWasServedDoesNotRefuseTheNextOne() throws {
        defer { server.stop() }
        leave(try Sockets.connect(path))
        let peer = try Sockets.connect(path)
        serve()
        #expect(try welcome(peer))
    }

    @Test func aPeerThatLeavesMakesRoomForTheNextOne() throws {
        defer { server.stop() }
        serve()
        for _ in 0..<5 {
            let peer = try Sockets.connect(path)
            #expect(try welcome(peer))
            leave(peer)
        }
    }

    @Test func aSecondPeerIsRefusedAndTheFirstIsServed() throws {
        defer { server.stop() }
        let first = try Sockets.connect(path)
        let second = try Sockets.connect(path)
        serve()
        #expect(throws: FrameError.closed) {
            try Frame.receive(from: second, until: Uptime.deadline(seconds: 30), limit: Limits.frameBytes)
        }
        #expect(try welcome(first))
    }
}
