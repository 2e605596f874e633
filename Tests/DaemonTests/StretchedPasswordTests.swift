// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire
import TestSupport
import Testing

/// Floods the real daemon with wrong passwords from one connection, at the cost of tier `user`.
@Suite struct StretchedPasswordTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        try daemon.start()
    }

    private func adding(_ account: String, password: String) -> Request {
        .addItem(
            Request.AddItem(
                attributes: [.account: .text(account)],
                accessControl: AccessControl(accessibility: .whenUnlocked, constraints: .applicationPassword),
                secret: SecretBytes([1]),
                authentication: Authentication(applicationPassword: SecretBytes(password.utf8))))
    }

    private func reading(_ account: String, password: String) -> Request {
        .copyItems(
            Request.CopyItems(
                .password(account), authentication: Authentication(applicationPassword: SecretBytes(password.utf8))))
    }

    /// A line of the daemon's /proc/PID/status, in bytes.
    private func memory(_ name: String) throws -> Int {
        let process = try #require(try daemon.process)
        let status = try daemon.run("/bin/cat", ["/proc/\(process)/status"]).output
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return 1024
            * (try #require(line.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) }))
    }

    @Test func addIsServedWhileWrongPasswordsOfOtherConnectionWait() throws {
        let flooding = try RawClient(daemon)
        #expect(try flooding.call(adding("own", password: "right")) == .done)
        let other = try RawClient(daemon)
        for id in 1...UInt64(Limits.stretchesWaiting) {
            try flooding.send(reading("own", password: "wrong"), id: id)
        }
        let start = Uptime.nanoseconds
        #expect(try other.call(.adding("item")) == .done)
        print("an add during \(Limits.stretchesWaiting) wrong passwords took \((Uptime.nanoseconds - start) / 1000) µs")
        // The first connection has read nothing so far: its answers are in the socket's buffer, one frame each.
        var count: CInt = 0
        #expect(ioctl(flooding.socket.number, UInt(FIONREAD), &count) == 0)
        let waiting = Int(count)
        var sizes: [Int] = []
        for _ in 1...Limits.stretchesWaiting {
            guard case (let id, .failure(let failure))? = try flooding.receive(seconds: 60) else {
                Issue.record("no refusal")
                return
            }
            #expect(failure.status == .itemAuthenticationFailed)
            sizes.append(Message.reply(id: id, .failure(failure)).encoded().count)
        }
        #expect(waiting < sizes.reduce(0, +) / 2, "the add waited for at least half of the wrong passwords")
    }

    @Test func memoryOfStretchingIsReleased() throws {
        let client = try RawClient(daemon)
        #expect(try client.call(adding("own", password: "right")) == .done)
        #expect(try memory("VmHWM") > 60 << 20, "the peak shows that stretching used 64 MiB")
        #expect(try memory("VmRSS") < 40 << 20)
    }
}
