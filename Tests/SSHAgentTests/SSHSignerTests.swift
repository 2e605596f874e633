// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Synchronization
import Testing

@testable import LatchkeySystem
@testable import SSHAgent

@Suite struct SSHSignerTests {
    private let store: ScriptedKeyStore
    private let time = SharedTime()

    init() throws { store = try ScriptedKeyStore() }

    private func signer(reuse seconds: Int64) -> SSHSigner {
        SSHSigner(store, reuseSeconds: seconds) { [time] in time.value }
    }

    private func sign(_ signer: SSHSigner, _ reuse: SSHReuse?) throws {
        let digest = [UInt8](repeating: 1, count: 32)
        let signature = try signer.sign(digest, store.sshKey, reason: "a test", for: nil, reuse: reuse) { done in
            (try? done.wait(for: 1, until: Uptime.deadline(seconds: 20))) ?? false
        }
        #expect(signature.count == 64)
    }

    private static let use = SSHReuse(
        key: [1], host: [2], user: "ada", processID: 3, startTime: 4, executable: ExecutableFile(device: 5, inode: 6))

    @Test func withoutAWindowEverySignatureHasAPromptAndItsProofIsRevoked() throws {
        let signer = signer(reuse: 0)
        for number in 1...3 {
            try sign(signer, Self.use)
            #expect(store.promptCount == number)
            #expect(store.state.withLock { $0.revoked.count } == number)
        }
    }

    @Test func sameUseHasOnePromptWithinTheWindow() throws {
        let signer = signer(reuse: 10)
        try sign(signer, Self.use)
        time.value = 9_999_999_999
        try sign(signer, Self.use)
        #expect(store.promptCount == 1)
        // The window begins with the proof and is not extended.
        time.value = 10_000_000_000
        try sign(signer, Self.use)
        #expect(store.promptCount == 2)
        #expect(store.state.withLock { $0.revoked } == [1])
    }

    @Test func everyOtherUseHasAPrompt() throws {
        let signer = signer(reuse: 10)
        try sign(signer, Self.use)
        var others = [SSHReuse?](repeating: Self.use, count: 7)
        others[0]?.key = [9]
        others[1]?.host = [9]
        others[2]?.user = "bob"
        others[3]?.processID = 9
        others[4]?.startTime = 9
        others[5]?.executable = ExecutableFile(device: 5, inode: 9)
        others[6] = nil
        for (number, other) in others.enumerated() {
            try sign(signer, other)
            #expect(store.promptCount == number + 2)
        }
    }

    @Test func forgottenProofsAreRevoked() throws {
        let signer = signer(reuse: 10)
        try sign(signer, Self.use)
        signer.forgetProofs()
        #expect(store.state.withLock { $0.revoked } == [1])
        try sign(signer, Self.use)
        #expect(store.promptCount == 2)
    }

    @Test func proofOfAnEndedDaemonIsReplaced() throws {
        let signer = signer(reuse: 10)
        try sign(signer, Self.use)
        store.state.withLock { $0.failure = .invalidContext }
        try sign(signer, Self.use)
        #expect(store.promptCount == 2)
    }

    @Test func numberOfKeptProofsIsLimited() throws {
        let signer = signer(reuse: 10)
        for number in 0..<70 {
            var use = Self.use
            use.processID = Int32(number)
            try sign(signer, use)
        }
        #expect(store.state.withLock { $0.revoked.count } == 6)
    }

    @Test func promptOfAProgramThatHasGoneIsDismissed() throws {
        let released = Gate()
        let store = try ScriptedKeyStore { _ in
            released.wait()
            return true
        }
        let signer = SSHSigner(store, reuseSeconds: 10) { 0 }
        #expect(throws: Failure(.appCancel)) {
            try signer.sign([UInt8](repeating: 1, count: 32), store.sshKey, reason: "", for: nil, reuse: Self.use) {
                _ in
                false
            }
        }
        #expect(store.state.withLock { $0.revoked } == [1])
        released.open()
    }
}

/// A clock that a test sets.
final class SharedTime: Sendable {
    private let time = Mutex<Int64>(0)
    var value: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
