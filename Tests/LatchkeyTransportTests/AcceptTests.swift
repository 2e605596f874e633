// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// A server that cannot accept a connection because descriptors or memory ran out.
@Suite struct AcceptTests {
    @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
    func listenerIsNotPolledDuringBackOff(code: CInt) throws {
        let echo = try EchoServer()
        defer { echo.stop() }
        let first = try echo.connect()
        #expect(try first.echo([1]) == [1])
        echo.failAccepting(with: code)
        let waiting = try echo.connect()
        try waiting.send(frame: [2])
        // The server continues to serve existing connections. Its clock does not advance, so it does not accept again.
        while echo.refusedAccepts == 0 { _ = try first.echo([3]) }
        for _ in 0..<20 { #expect(try first.echo([4]) == [4]) }
        #expect(echo.refusedAccepts == 1)
        // There is still no descriptor after the back-off: it tries once and backs off again.
        echo.advance(seconds: 1)
        while echo.refusedAccepts == 1 { _ = try first.echo([5]) }
        for _ in 0..<20 { #expect(try first.echo([6]) == [6]) }
        #expect(echo.refusedAccepts == 2)
        echo.failAccepting(with: nil)
        echo.advance(seconds: 1)
        #expect(try waiting.receive() == [2])
    }
}
