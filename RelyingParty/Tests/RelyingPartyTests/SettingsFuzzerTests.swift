// SPDX-License-Identifier: Apache-2.0

import ServerTestSupport
import Testing

struct SettingsFuzzerTests {
    @Test func noInputOfTheCorpusIsMisread() throws {
        let count = try FuzzCorpus("settings", in: "Tests/Vectors").checkEach { place, bytes in
            #expect(FuzzedSettings.complaint(about: bytes) == nil, "\(place)")
        }
        #expect(count >= 8)
    }
}
