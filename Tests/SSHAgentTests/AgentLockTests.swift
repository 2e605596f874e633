// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Synchronization
import TestSupport
import Testing

@testable import SSHAgent

@Suite struct AgentLockTests {
    private static func secret(_ text: String) -> SecretBytes { SecretBytes(text.utf8) }

    @Test func onlyTheSamePassphraseUnlocks() {
        let lock = AgentLock(now: { 0 })
        #expect(!lock.isLocked && !lock.unlock(Self.secret("a")) { _ in true })
        #expect(lock.lock(Self.secret("a")) && lock.isLocked)
        #expect(!lock.lock(Self.secret("b")), "a locked agent takes no other passphrase")
        #expect(!lock.unlock(Self.secret("b")) { _ in true } && lock.isLocked)
        #expect(lock.unlock(Self.secret("a")) { _ in true } && !lock.isLocked)
    }

    @Test func emptyPassphraseIsRefused() {
        let lock = AgentLock(now: { 0 })
        #expect(!lock.lock(Self.secret("")) && !lock.isLocked)
    }

    @Test func eachWrongPassphraseDoublesTheWaitUpToTheLimit() {
        let time = Mutex<Int64>(0)
        let waits = Recorder<Int64>()
        let lock = AgentLock(now: { time.withLock { $0 } })
        #expect(lock.lock(Self.secret("a")))
        for _ in 0..<9 {
            let isOpen = lock.unlock(Self.secret("b")) { end in
                waits.add(end - time.withLock { $0 })
                time.withLock { $0 = end }
                return true
            }
            #expect(!isOpen)
        }
        let milliseconds = waits.all.map { $0 / 1_000_000 }
        #expect(milliseconds == [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000])
    }

    @Test func attemptThatGivesUpComparesNothing() {
        let lock = AgentLock(now: { 0 })
        #expect(lock.lock(Self.secret("a")))
        #expect(!lock.unlock(Self.secret("b")) { _ in true })
        #expect(!lock.unlock(Self.secret("a")) { _ in false } && lock.isLocked)
        #expect(lock.unlock(Self.secret("a")) { _ in true })
    }

    @Test func secondAttemptMeanwhileIsRefused() {
        let lock = AgentLock(now: { 0 })
        #expect(lock.lock(Self.secret("a")))
        #expect(!lock.unlock(Self.secret("b")) { _ in true })
        let isOpen = lock.unlock(Self.secret("a")) { _ in
            #expect(!lock.unlock(Self.secret("a")) { _ in true })
            return true
        }
        #expect(isOpen)
    }

    @Test func failedRandomNumbersLeaveTheAgentOpen() {
        let lock = AgentLock(
            now: { 0 }, makeSalt: { () throws(Failure) in throw Failure(.internalFailure) })
        #expect(!lock.lock(Self.secret("a")) && !lock.isLocked)
    }
}
