// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Checks the fuzzer's property for its corpus and for deterministic mutations of it.
@Suite struct PAMFuzzTests {
    @Test func corpusFilesSatisfyTheFuzzProperty() throws {
        let corpus = try Repository.inputs("pam")
        #expect(corpus.count >= 6)
        for (name, bytes) in corpus { #expect(complaint(aboutPAM: bytes) == nil, "\(name)") }
    }

    @Test func mutatedCorpusSatisfiesTheFuzzProperty() throws {
        var numbers = SeededGenerator(seed: 5)
        for (name, bytes) in try Repository.inputs("pam") {
            for _ in 0..<500 {
                var changed = bytes
                for _ in 0...numbers.next(below: 3) {
                    let position = 1 + numbers.next(below: changed.count - 1)
                    guard position < changed.count else { continue }
                    switch numbers.next(below: 4) {
                    case 0: changed[position] ^= UInt8(truncatingIfNeeded: 1 << numbers.next(below: 8))
                    case 1: changed.remove(at: position)
                    case 2: changed.insert(UInt8(truncatingIfNeeded: numbers.next(below: 256)), at: position)
                    default: changed.removeSubrange(position...)
                    }
                }
                #expect(complaint(aboutPAM: changed) == nil, "\(name): \(changed)")
            }
        }
    }
}
