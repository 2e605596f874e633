// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem
import TestPromises
import Testing

/// Tests when the recovery code of an export is sent to the agent, which can be any program of the user.
@Suite struct RecoveryCodeFrameTests {
    private let daemon: TestDaemon
    private let agent: RawAgent

    init() throws {
        daemon = try .withPerson()
        agent = try RawAgent(daemon)
    }

    /// The bytes of the next frame, and its message about the prompt.
    private func next() throws -> (bytes: [UInt8], message: AgentMessage) {
        let payload = try Frame.receive(from: agent.socket, until: Uptime.deadline(seconds: 20))
        guard case .message(_, let message) = try AgentFrame(decoding: payload) else { throw FrameError.closed }
        return (payload.copyBytes(), message)
    }

    @Test(.promise("backup.code")) func recoveryCodeIsSentOnlyAfterPasscode() throws {
        let caller = try RunningProgram(daemon, "latchkey", ["export", daemon.folder + "/backup"])
        let shown = try next()
        guard case .show(let prompt) = shown.message else { throw FrameError.closed }
        #expect(prompt.purpose == .exportItems && prompt.content.step == .proof)
        try agent.send(.visible, to: prompt.id)
        try agent.send(.passcode(SecretBytes("4321".utf8)), to: prompt.id)
        let wrong = try next()
        try agent.send(.passcode(SecretBytes("1234".utf8)), to: prompt.id)
        let right = try next()
        guard case .update(let content) = right.message else { throw FrameError.closed }
        #expect(content.step == .recoveryCodeShown)

        let told = try daemon.run("latchkey", ["sim", "code"]).output.filter { $0 != "\n" }
        try #require(told.utf8.count > 20)
        for form in [told, told.filter { $0.isLetter || $0.isNumber }] {
            #expect(![shown, wrong].contains { $0.bytes.contains(sequence: form) })
        }
        #expect(right.bytes.contains(sequence: told), "the frame of the last step contains it")
        try agent.send(.cancel, to: prompt.id)
        #expect(try caller.end().exitCode == 77)
    }
}

extension [UInt8] {
    fileprivate func contains(sequence text: String) -> Bool {
        let sequence = Array(text.utf8)
        return indices.contains { self[$0...].starts(with: sequence) }
    }
}
