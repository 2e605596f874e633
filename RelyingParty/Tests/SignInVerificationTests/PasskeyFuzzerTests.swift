// SPDX-License-Identifier: Apache-2.0

import ServerTestSupport
import Testing

@testable import ServerFuzzProperties

struct PasskeyFuzzerTests {
    @Test func everyInputOfTheCorpusHasTheProperties() throws {
        let count = try FuzzCorpus("passkey").checkEach { place, bytes in
            #expect(FuzzedPasskey.complaint(about: bytes) == nil, "\(place)")
        }
        #expect(count >= 9)
    }
}
