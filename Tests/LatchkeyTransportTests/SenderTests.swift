// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import Testing

/// Connections that are for the process which made them, and those that send nothing.
@Suite struct SenderTests {
    private func echo(firstFrameSeconds: Int64? = nil) throws -> EchoServer {
        var setting = EchoServer.Setting()
        setting.bindsToSender = true
        setting.firstFrameSeconds = firstFrameSeconds
        return try EchoServer(setting)
    }

    /// Another process sends a frame on the connection of this one, and ends.
    private func sendFromAChild(_ client: EchoClient) throws {
        let child = try ChildProcess.start(
            "/bin/sh", ["-c", "printf '\\002\\000\\000\\000\\001x' >&3"], environment: [],
            descriptors: [nil, nil, nil, client.socket])
        #expect(child.end(within: 10) == .exited(0))
    }

    @Test(.promise("users.connection")) func whatAnotherProcessSendsEndsTheConnection() throws {
        let echo = try echo()
        defer { echo.stop() }
        let client = try echo.connect()
        #expect(try client.echo([1]) == [1])
        try sendFromAChild(client)
        #expect(try client.receive() == Array("refused".utf8))
        #expect(try client.receive() == nil)
    }

    @Test(.promise("users.connection")) func whatWasSentBeforeTheConnectionWasAcceptedHasASenderToo() throws {
        let echo = try echo()
        defer { echo.stop() }
        try echo.settle()
        echo.failAccepting(with: EMFILE)
        let (own, other) = (try echo.connect(), try echo.connect())
        try own.send(frame: [2])
        try sendFromAChild(other)
        echo.failAccepting(with: nil)
        echo.advance(seconds: 1)
        #expect(try own.receive() == [2])
        #expect(try other.receive() == Array("refused".utf8))
    }

    @Test func aConnectionWithoutAFirstFrameEndsAtItsDeadline() throws {
        let echo = try echo(firstFrameSeconds: 5)
        defer { echo.stop() }
        let (silent, speaking) = (try echo.connect(), try echo.connect())
        #expect(try speaking.echo([1]) == [1])
        echo.advance(seconds: 6)
        #expect(try silent.receive() == Array("refused".utf8))
        #expect(try silent.receive() == nil)
        #expect(try speaking.echo([2]) == [2])
    }
}
