// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TestPromises
import Testing

@Suite struct SecretBytesTests {
    private struct Refusal: Error, Equatable {}

    @Test func equalityIsThatOfTheBytes() {
        #expect(SecretBytes([]) == SecretBytes([]))
        #expect(SecretBytes([1, 2, 3]) == SecretBytes([1, 2, 3]))
        #expect(SecretBytes([]) != SecretBytes([0]))
        #expect(SecretBytes([1, 2, 3]) != SecretBytes([1, 2]))
        #expect(SecretBytes([1, 2]) != SecretBytes([1, 2, 0]))
    }

    @Test(.promise("secret.type")) func everyBitCountsForEquality() {
        let bytes = [UInt8](repeating: 0x5a, count: 33)
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                #expect(SecretBytes(changed) != SecretBytes(bytes), "byte \(index), bit \(bit)")
            }
        }
    }

    /// A comparison that combined two differences by exclusive or would let them cancel each other out.
    @Test func differencesDoNotCancelOut() {
        #expect(SecretBytes([1, 1]) != SecretBytes([0, 0]))
        #expect(SecretBytes([0x80, 0x80]) != SecretBytes([0, 0]))
        #expect(SecretBytes([1, 2]) != SecretBytes([2, 1]))
    }

    @Test func everyInitialiserGivesTheSameBytes() {
        let bytes: [UInt8] = [0, 255, 10, 0]
        let filled = SecretBytes(count: 4) { target in
            for index in 0..<4 { target[index] = bytes[index] }
        }
        #expect(filled == SecretBytes(bytes))
        #expect(SecretBytes(bytes.reversed().reversed()) == SecretBytes(bytes))
        #expect(bytes.withUnsafeBytes { SecretBytes(copying: $0) } == SecretBytes(bytes))
        #expect(filled.copyBytes() == bytes)
        #expect(filled.count == 4)
    }

    @Test func bytesThatAreNotWrittenAreZero() {
        #expect(SecretBytes(count: 64) { _ in }.copyBytes() == [UInt8](repeating: 0, count: 64))
    }

    @Test func errorsOfTheFillingClosureAreRethrown() {
        #expect(throws: Refusal()) {
            try SecretBytes(count: 4) { (_) throws(Refusal) in throw Refusal() }
        }
    }

    @Test(.promise("secret.type")) func descriptionsShowNoBytes() {
        let secret = SecretBytes("hunter2".utf8)
        #expect(!String(describing: secret).contains("hunter2"))
        #expect(!String(reflecting: secret).contains("hunter2"))
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test func wipingAnArrayEmptiesIt() {
        var bytes: [UInt8] = [1, 2, 3]
        wipe(&bytes)
        #expect(bytes.isEmpty)
        wipe(&bytes)
        #expect(bytes.isEmpty)
    }
}
