// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

@testable import FuzzProperties

/// Each message has exactly one encoding: changed bytes are refused, or are the one encoding of a different message.
@Suite struct CanonicalFormTests {
    @Test(arguments: Sample.all) func everyTruncationIsRefused(_ sample: Sample) {
        let payload = sample.message.encoded().copyBytes()
        for count in payload.indices {
            let refusal = refusal(of: Array(payload.prefix(count)))
            #expect(refusal == .truncated, "first \(count) bytes")
        }
    }

    @Test(arguments: Sample.all) func everyTrailingByteIsRefused(_ sample: Sample) {
        let payload = sample.message.encoded().copyBytes()
        for byte in UInt8.min...UInt8.max { #expect(refusal(of: payload + [byte]) == .trailingBytes) }
        #expect(refusal(of: payload + payload) == .trailingBytes)
    }

    @Test(arguments: Sample.all) func everyFlippedBitIsRefusedOrGivesACanonicalMessage(_ sample: Sample) {
        let payload = sample.message.encoded().copyBytes()
        for index in payload.indices {
            for bit in 0..<8 {
                var flipped = payload
                flipped[index] ^= 1 << UInt8(bit)
                let complaint = complaint(aboutFrame: flipped)
                #expect(complaint == nil, "byte \(index), bit \(bit): \(digits(flipped))")
            }
        }
    }

    @Test(arguments: Sample.all) func everyReplacedByteIsRefusedOrGivesACanonicalMessage(_ sample: Sample) {
        // The first bytes select the message and its fields; the fuzzer and the random bytes cover the rest.
        let payload = sample.message.encoded().copyBytes()
        for index in payload.indices.prefix(20) {
            for byte in UInt8.min...UInt8.max {
                var changed = payload
                changed[index] = byte
                let complaint = complaint(aboutFrame: changed)
                #expect(complaint == nil, "byte \(index): \(digits(changed))")
            }
        }
    }

    @Test(arguments: Sample.all) func removingAMapEntryIsRefusedOrGivesACanonicalMessage(_ sample: Sample) throws {
        let item = try #require(CBORItem(reading: sample.message.encoded().copyBytes()))
        for (path, key, shorter) in item.withoutEachEntry {
            let complaint = complaint(aboutFrame: shorter.encoded)
            #expect(complaint == nil, "without \(key) at \(path)")
        }
    }

    @Test(arguments: Sample.all) func replacingAnItemIsRefusedOrGivesACanonicalMessage(_ sample: Sample) throws {
        let item = try #require(CBORItem(reading: sample.message.encoded().copyBytes()))
        let others: [CBORItem] = [0, .negative(0), .bytes([]), "", [], [:], false, true, .simple(22), .zeros(16), 255]
        for path in item.paths {
            for other in others {
                let changed = item.replacing(path, with: other).encoded
                let complaint = complaint(aboutFrame: changed)
                #expect(complaint == nil, "\(other) at \(path)")
            }
        }
    }
}
