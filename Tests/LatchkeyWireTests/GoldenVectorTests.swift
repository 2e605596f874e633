// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import Testing

/// The files of `Tests/Vectors/wire` bind the encoder and the decoder to bytes that are written down.
@Suite struct GoldenVectorTests {
    @Test func everySampleHasOneVectorAndEveryVectorASample() throws {
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
        // Failures are equal when their codes are: the bytes tell the texts apart.
        #expect(message.encoded().copyBytes() == vector.payload)
    }

    @Test func vectorsAreDeterministicCBORByASecondOpinion() throws {
        for vector in try Vector.load() {
            let item = try #require(CBORItem(reading: vector.payload), "\(vector.name)")
            #expect(item.encoded == vector.payload, "\(vector.name)")
        }
    }

    @Test func noTwoVectorsAreTheSame() throws {
        let payloads = try Vector.load().map(\.payload)
        #expect(Set(payloads).count == payloads.count)
    }
}
