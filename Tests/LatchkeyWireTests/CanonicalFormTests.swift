// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

@testable import FuzzProperties

extension Message: WireMessage {
    package static let vectors = Vector.ofClients
    package static func complaint(about bytes: [UInt8]) -> String? { FuzzProperties.complaint(aboutFrame: bytes) }
    fileprivate static let samples = Sample.all.map { WireSample($0.name, $0.message) }
}

/// Each message has exactly one encoding: changed bytes are refused, or are the one encoding of a different message.
@Suite struct CanonicalFormTests {
    @Test func eachVectorHasASample() throws {
        try WireContract.expectOneSampleForEachVector(Message.samples)
    }

    @Test(arguments: Message.samples, WireContract<Message>.allCases)
    func eachMessageHasOneEncoding(_ sample: WireSample<Message>, _ contract: WireContract<Message>) throws {
        try contract.check(sample)
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
