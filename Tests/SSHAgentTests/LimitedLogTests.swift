// SPDX-License-Identifier: Apache-2.0

import LatchkeyWords
import TestSupport
import Testing

@testable import SSHAgent

@Suite struct LimitedLogTests {
    @Test func linesBeyondTheLimitAreCounted() {
        let time = SharedTime()
        let written = Recorder<String>()
        let log = LimitedLog(
            words: .plainEnglish, now: { time.value }, write: written.add)
        for number in 0..<100 { log.add("line \(number)") }
        #expect(written.all.count == LimitedLog.lines)
        time.value = LimitedLog.seconds * 1_000_000_000
        log.add("later")
        #expect(written.all.suffix(2) == ["70 lines were left out", "later"])
    }
}
