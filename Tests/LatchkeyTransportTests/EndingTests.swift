// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// The end of connections after a refusal.
@Suite struct EndingTests {
    private let echo: EchoServer

    init() throws { echo = try EchoServer() }

    /// A peer with answers that it has not read, and then a frame that is refused.
    private func refusedPeer() throws -> EchoClient {
        let client = try echo.connect()
        for _ in 0..<8 { try client.send(frame: [UInt8](repeating: 7, count: 200_000)) }
        try client.send([0xff, 0, 0, 0, 0, 0])
        try echo.settle()
        return client
    }

    @Test func refusedPeerThatKeepsSendingCausesNoLoadAndIsClosedAtDeadline() throws {
        defer { echo.stop() }
        let client = try refusedPeer()
        try client.fill()
        let endedBefore = echo.endedCount
        let before = echo.server.turns
        // Measures the turns of the loop while nothing happens, for which there is no event to wait.
        poll(nil, 0, 300)
        #expect(echo.server.turns - before < 30, "a spinning loop would turn some hundred thousand times")
        echo.advance(seconds: Limits.endSeconds + 1)
        try echo.settle()
        try echo.settle()
        #expect(echo.endedCount > endedBefore)
        var entry = pollfd(fd: client.socket.number, events: 0, revents: 0)
        #expect(poll(&entry, 1, 20_000) == 1 && entry.revents & Int16(POLLHUP) != 0, "closed by the server")
    }

    @Test func refusedPeerThatReadsInTimeGetsAllAnswersAndReason() throws {
        defer { echo.stop() }
        let client = try refusedPeer()
        for _ in 0..<8 { #expect(try client.receive()?.count == 200_000) }
        #expect(try client.receive() == Array("refused".utf8))
        #expect(try client.receive() == nil)
    }

    @Test func refusedPeerThatDisconnectsIsReleasedAtOnce() throws {
        defer { echo.stop() }
        let before = echo.endedCount
        do { _ = try refusedPeer() }
        let deadline = Uptime.deadline(seconds: 20)
        // The connections of `settle` end as well, each counted once: two of them and the refused one.
        while echo.endedCount < before + 3 || echo.server.budget.total > 0 {
            try echo.settle()
            try #require(Uptime.nanoseconds < deadline)
        }
    }

    @Test func frameDeadlineStartsWithItsFirstByte() throws {
        defer { echo.stop() }
        let client = try echo.connect()
        try client.send([Limits.wireVersion, 0])
        try echo.settle()
        echo.advance(seconds: Limits.frameSeconds - 1)
        // The rest of the first frame and the beginning of the second.
        try client.send([0, 0, 1, 65, Limits.wireVersion])
        #expect(try client.receive() == [65])
        try echo.settle()
        echo.advance(seconds: Limits.frameSeconds - 1)
        try echo.settle()
        try client.send([0, 0, 0, 1, 66])
        #expect(try client.receive() == [66])
        // One that stays incomplete for longer than that is refused.
        try client.send([Limits.wireVersion])
        try echo.settle()
        echo.advance(seconds: Limits.frameSeconds + 1)
        try echo.settle()
        #expect(try client.receive() == Array("refused".utf8))
        #expect(try client.receive() == nil)
    }
}
