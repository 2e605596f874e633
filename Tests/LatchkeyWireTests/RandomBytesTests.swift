// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

@testable import FuzzProperties

/// Pseudo-random bytes from a fixed seed, which is printed.
@Suite struct RandomBytesTests {
    static let seed: UInt64 = 0x6c61_7463_686b_6579

    @Test func randomBytesNeverTrapAndNeverGiveASecondEncoding() {
        print("random bytes: seed \(Self.seed)")
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...64, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Half of them begin like a message; otherwise nearly all would be refused at the first byte.
            let payload =
                Bool.random(using: &generator) ? bytes : [0x83, UInt8.random(in: 0...2, using: &generator)] + bytes
            let complaint = complaint(aboutFrame: payload)
            #expect(complaint == nil, "seed \(Self.seed): \(digits(payload))")
        }
    }

    @Test func mutatedMessagesNeverTrapAndNeverGiveASecondEncoding() {
        print("mutated messages: seed \(Self.seed)")
        var generator = SeededGenerator(seed: Self.seed)
        let payloads = Sample.all.map { $0.message.encoded().copyBytes() }
        for _ in 0..<20_000 {
            var payload = payloads.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                mutate(&payload, with: payloads.randomElement(using: &generator) ?? [], using: &generator)
            }
            let complaint = complaint(aboutFrame: payload)
            #expect(complaint == nil, "seed \(Self.seed): \(digits(payload))")
        }
    }

    private func mutate(_ payload: inout [UInt8], with other: [UInt8], using generator: inout SeededGenerator) {
        func slice(of bytes: [UInt8]) -> Range<Int> {
            let start = Int.random(in: 0...bytes.count, using: &generator)
            return start..<min(bytes.count, start + Int.random(in: 0...16, using: &generator))
        }
        let place = slice(of: payload)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: payload.removeSubrange(place)
        case 1: payload.replaceSubrange(place, with: other[slice(of: other)])
        case 2: payload.insert(contentsOf: payload[place], at: place.lowerBound)
        case 3: payload.insert(UInt8.random(in: 0...255, using: &generator), at: place.lowerBound)
        default: for index in place { payload[index] = UInt8.random(in: 0...255, using: &generator) }
        }
    }
}
