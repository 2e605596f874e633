// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem
import Testing

/// How the settings learn that the program that shows prompts is ready.
@Suite struct ReadySocketTests {
    @Test func aProgramThatWasStartedIsNotReadyUntilItSaysSo() throws {
        let (first, second) = (try ReadySocket(), try ReadySocket())
        #expect(first.name != second.name && first.name.hasPrefix("@"))
        #expect(try !first.wait(seconds: 0))
        let send = """
            import os, socket
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", "\\0" + os.environ["NOTIFY_SOCKET"][1:])
            """
        let process = try Processes.spawn(
            "/usr/bin/env", ["NOTIFY_SOCKET=\(first.name)", "/usr/bin/python3", "-c", send],
            descriptors: [nil, nil, nil])
        #expect(Processes.wait(process) == 0)
        #expect(try first.wait(seconds: 0) && !second.wait(seconds: 0))
    }
}
