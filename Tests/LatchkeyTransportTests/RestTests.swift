// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import Testing

/// The server notifies its handler once that nothing happens.
@Suite struct RestTests {
    @Test func aServerWithoutRequestsRestsOnceAndSleeps() throws {
        var setting = EchoServer.Setting()
        setting.restSeconds = 0
        let echo = try EchoServer(setting)
        defer { echo.stop() }
        let client = try echo.connect()
        #expect(try client.echo([1]) == [1])
        try echo.settle()
        let (rests, turns) = (echo.restCount, echo.server.turns)
        #expect(rests > 0)
        // Measures the turns of the loop while nothing happens, for which there is no event to wait.
        poll(nil, 0, 300)
        // The end of the connection of `settle` is the last event.
        #expect(echo.restCount - rests <= 2 && echo.server.turns - turns <= 4)
        #expect(try client.echo([2]) == [2])
        try echo.settle()
        #expect(echo.restCount > rests, "it rests again after the next request")
    }

    @Test func aServerDoesNotRestBeforeItsTime() throws {
        let echo = try EchoServer()
        defer { echo.stop() }
        for _ in 0..<20 {
            echo.advance(seconds: 1)
            try echo.settle()
        }
        #expect(echo.restCount == 0)
    }
}
