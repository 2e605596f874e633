// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// Checks the order of counting, stretching and replying for a wrong passcode, by the daemon's system calls.
@Suite(.needs(.trace)) struct CountedTryTests {
    /// Memory in bytes that scrypt uses at the cost of tier `user`: 128 × r × N.
    private static let scryptBytes = 128 * 8 << 16

    @Test(.promise("tries.first")) func wrongPasscodeIsCountedDurablyBeforeStretchingAndReply() throws {
        let daemon = try TestDaemon()
        #expect(try daemon.run("latchkey", ["passcode", "set"], input: "right passcode\n").exitCode == 0)
        let agent = try RawAgent(daemon)
        let caller = try RunningProgram(daemon, "latchkey", ["passcode", "check"])
        let prompt = try agent.shown()
        #expect(prompt.content.method == .passcode && prompt.tier == .user)

        let trace = try Trace(daemon, ["-e", "trace=pwrite64,fdatasync,mmap,sendto"])
        try agent.send(.visible, to: prompt.id)
        try agent.send(.passcode(SecretBytes("wrong passcode".utf8)), to: prompt.id)
        #expect(try agent.updated().notice == .wrongPasscode)
        let calls = try trace.end()
        try agent.send(.cancel, to: prompt.id)
        #expect(try caller.end().exitCode == 77)

        let counters = "</" + daemon.folder.dropFirst() + "/counters>"
        let write = try #require(calls.first { $0.name == "pwrite64" && $0.text.contains(counters) })
        let sync = try #require(calls.first { $0.name == "fdatasync" && $0.text.contains(counters) })
        let stretch = try #require(calls.first { $0.name == "mmap" && $0.byteCount >= Self.scryptBytes })
        let reply = try #require(calls.first { $0.name == "sendto" })
        #expect(write.ended < sync.began)
        #expect(sync.text.hasSuffix("= 0"))
        #expect(sync.ended < stretch.began, "the count is durable before scrypt allocates its memory")
        #expect(stretch.ended < reply.began, "the reply is sent last")
    }
}

extension TracedCall {
    /// The length argument of an `mmap` call.
    fileprivate var byteCount: Int {
        let arguments = text.split(separator: ",", maxSplits: 2)
        return arguments.count > 1 ? Int(arguments[1].drop { $0 == " " }) ?? 0 : 0
    }
}
