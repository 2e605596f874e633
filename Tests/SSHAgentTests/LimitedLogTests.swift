// SPDX-License-Identifier: Apache-2.0

import LatchkeyWords
import Synchronization
import Testing

@testable import SSHAgent

@Suite struct LimitedLogTests {
    @Test func linesBeyondTheLimitAreCounted() {
        let time = SharedTime()
        let written = Mutex<[String]>([])
        let log = LimitedLog(
            words: .plainEnglish, now: { time.value },
            write: { line in written.withLock { $0.append(line) } })
        for number in 0..<100 { log.add("line \(number)") }
        #expect(written.withLock { $0.count } == LimitedLog.lines)
        time.value = LimitedLog.seconds * 1_000_000_000
        log.add("later")
        #expect(written.withLock { Array($0.suffix(2)) } == ["70 lines were left out", "later"])
    }
}
