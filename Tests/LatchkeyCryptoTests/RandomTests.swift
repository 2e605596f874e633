// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Testing

@Suite struct RandomTests {
    @Test(arguments: [0, 1, 12, 32, 4096]) func theRequestedNumberOfBytesIsReturned(_ count: Int) throws {
        #expect(try randomBytes(count).count == count)
        #expect(try randomSecret(count).count == count)
    }

    @Test func twoDrawsDiffer() throws {
        #expect(try randomBytes(32) != randomBytes(32))
        #expect(try randomSecret(32) != randomSecret(32))
    }
}
