// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeyModel
import SystemDriver
import TestSupport
import Testing

/// Random bytes for keys and nonces: no two callers get the same ones.
@Suite struct SystemRandomSourceTests {
    /// The lengths that adding an item asks for, and one that the stock does not hold.
    private static let lengths = [12, 16, 32, 300]

    @Test func noTwoSecretsHaveCommonBytesWhenManyThreadsAsk() {
        let source = SystemRandomSource()
        let parts = Recorder<[[UInt8]]>()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            var own: [[UInt8]] = []
            for turn in 0..<500 {
                guard let secret = try? source.bytes(Self.lengths[turn % Self.lengths.count]) else { continue }
                let bytes = secret.copyBytes()
                // Eight bytes are never equal by chance; a pair that overlaps, or a part that was overwritten, is.
                own += stride(from: 0, to: bytes.count / 4 * 4 - 4, by: 4).map { Array(bytes[$0..<$0 + 8]) }
            }
            parts.add(own)
        }
        let all = parts.all.flatMap { $0 }
        #expect(all.count == 8 * 125 * (2 + 3 + 7 + 74))
        #expect(Set(all).count == all.count)
    }

    @Test(arguments: [0, 1, 31, 32, 33, 256, 257, 10_000]) func aSecretHasTheLengthThatWasAskedFor(_ count: Int) throws
    {
        let source = SystemRandomSource()
        for _ in 0..<20 { #expect(try source.bytes(count).count == count) }
    }

    @Test func aSecretIsInMemoryOnceAndNotAtAllAfterItsRelease() throws {
        let source = SystemRandomSource()
        var secret: SecretBytes? = try source.bytes(32)
        let needle = WipedMemory(byteCount: 32)
        secret?.withBytes { UnsafeMutableRawBufferPointer(start: needle.base, count: 32).copyMemory(from: $0) }
        let memory = try ProcessMemory()
        #expect(memory.count(of: [needle]) == 1)
        secret = nil
        #expect(memory.count(of: [needle]) == 0)
        // Only what was taken is overwritten: the next bytes of the stock are random.
        #expect(try source.bytes(32) != SecretBytes([UInt8](repeating: 0, count: 32)))
    }
}
