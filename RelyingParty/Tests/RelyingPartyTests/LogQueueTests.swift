// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import latchkey_server

/// The lines of the log that wait while a thread writes.
struct LogQueueTests {
    private static let line = [UInt8](repeating: UInt8(ascii: "a"), count: 99)
    private static let twoLines = line + [0x0a] + line + [0x0a]
    /// How many lines fit, of 100 bytes each with their ends.
    private static let fitting = LogQueue.mostWaiting / 100

    @Test func oneThreadWritesAtATime() {
        var queue = LogQueue()
        let first = [queue.add(Self.line), queue.add(Self.line)]
        #expect(first == [true, false], "the first thread writes the second line as well")
        let both = queue.next()
        #expect(both?.bytes == Self.twoLines && both?.lines == 2)
        let later = queue.add(Self.line)
        #expect(!later, "the first thread was not told yet that nothing waits")
        let counts = [queue.next()?.lines, queue.next()?.lines]
        #expect(counts == [1, nil])
        let again = queue.add(Self.line)
        #expect(again)
    }

    @Test func linesThatDoNotFitAreCountedAndDropped() throws {
        var queue = LogQueue()
        for _ in 0..<Self.fitting + 7 { _ = queue.add(Self.line) }
        let lost = Array(#"{"lostLines":7}"#.utf8) + [0x0a]
        var written: [UInt8] = []
        while let part = queue.next() {
            #expect(part.bytes.count <= LogQueue.mostAtOnce && part.bytes.last == 0x0a)
            written += part.bytes
        }
        #expect(written == lost + Array(repeatElement(Self.line + [0x0a], count: Self.fitting).joined()))
        // There is room again, and nothing is lost any more.
        _ = queue.add(Self.line)
        let last = queue.next()
        #expect(last?.bytes == Self.line + [0x0a])
    }

    @Test func linesThatCannotBeWrittenAreCountedWithTheNextOnes() throws {
        var queue = LogQueue()
        for _ in 0..<3 { _ = queue.add(Self.line) }
        let lost = queue.next()
        queue.lose(try #require(lost).lines)
        _ = queue.add(Self.line)
        let taken = queue.next()
        let next = try #require(taken)
        #expect(next.bytes == Array("{\"lostLines\":3}\n".utf8) + Self.line + [0x0a])
        #expect(next.lines == 4)
    }

    @Test func aLongLineIsCutOffSoThatItFitsIntoOneWriteWithTheLostLines() throws {
        var queue = LogQueue()
        queue.lose(.max / 2)
        _ = queue.add([UInt8](repeating: UInt8(ascii: "a"), count: 100_000))
        let taken = queue.next()
        let next = try #require(taken)
        #expect(next.bytes.count <= LogQueue.mostAtOnce && next.bytes.last == 0x0a)
        let rest = queue.next()
        #expect(rest == nil)
    }
}
