// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

@testable import FuzzProperties

/// The encoder and the decoder agree with the bytes in the files of `Tests/Vectors/wire`.
@Suite struct GoldenVectorTests {
    @Test func samplesAndVectorsHaveTheSameNames() throws {
        let samples = Sample.all.map(\.name)
        let vectors = try Vector.load().map(\.name)
        #expect(Set(samples).count == samples.count)
        #expect(vectors.sorted() == samples.sorted())
    }

    @Test(arguments: Sample.all) func encodingYieldsTheVector(_ sample: Sample) throws {
        let vector = try #require(try Vector.load().first { $0.name == sample.name })
        let encoded = sample.message.encoded().copyBytes()
        #expect(encoded == vector.payload, "\(sample.name) \(digits(encoded))")
    }

    @Test(arguments: Sample.all) func decodingTheVectorYieldsTheMessage(_ sample: Sample) throws {
        let vector = try #require(try Vector.load().first { $0.name == sample.name })
        let message = try Message(decoding: SecretBytes(vector.payload))
        #expect(message == sample.message)
        // `Failure` compares codes only, so the bytes are compared too.
        #expect(message.encoded().copyBytes() == vector.payload)
    }

    @Test func vectorsAreDeterministicCBORForAnIndependentDecoder() throws {
        for vector in try Vector.load() {
            let item = try #require(CBORItem(reading: vector.payload), "\(vector.name)")
            #expect(item.encoded == vector.payload, "\(vector.name)")
        }
    }

    @Test func vectorsAreDistinct() throws {
        let payloads = try Vector.load().map(\.payload)
        #expect(Set(payloads).count == payloads.count)
    }
}
