// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyClient

/// What a library says to a daemon of another release; `LimitTests` has the daemon's side.
@Suite struct VersionTests {
    @Test(.promise("version.protocol"), arguments: [0, Limits.wireVersion + 1, .max])
    func aDaemonOfAnotherVersionIsReported(version: UInt8) throws {
        let (near, far) = try Sockets.pair()
        let channel = SocketChannel(near)
        let frame: [UInt8] = [version, 0, 0, 0, 1, 0]
        #expect(write(far.number, frame, frame.count) == frame.count)
        do throws(Failure) {
            _ = try channel.receive(until: Uptime.deadline(seconds: 10))
            Issue.record("the frame was accepted")
        } catch {
            #expect(error.status == .unsupportedVersion && error.message.contains("version \(version) "))
            #expect(error.hint == "Install the same version of library and daemon.")
        }
    }

    @Test(.promise("version.address")) func theAddressOfADaemonOfAnotherVersionIsNotUsed() throws {
        let folder = try TemporaryFolder()
        let file = try DaemonLock.open(folder.path)
        try DaemonLock.announce(DaemonLock.Address(socket: "/run/x", processID: 7), in: file)
        #expect(DaemonLock.address(file) != nil)
        try file.write(all: Array("2".utf8), at: 0)
        #expect(DaemonLock.address(file) == nil)
    }
}
