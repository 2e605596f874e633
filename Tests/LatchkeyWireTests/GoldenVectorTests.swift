// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

@testable import FuzzProperties

/// The encoder and the decoder agree with the bytes in the files of `Tests/Vectors/wire`.
@Suite struct GoldenVectorTests {
    @Test(arguments: Vector.ofClients + ["agent", "pam", "sensor", "services"])
    func vectorsAreDeterministicCBORForAnIndependentDecoder(_ file: String) throws {
        for vector in try Vector.load([file]) {
            let item = try #require(CBORItem(reading: vector.payload), "\(vector.name)")
            #expect(item.encoded == vector.payload, "\(vector.name)")
        }
    }
}
