// SPDX-License-Identifier: Apache-2.0

import ServerTestSupport
import Testing

@testable import ServerFuzzProperties

struct RequestFuzzerTests {
    private let corpus = FuzzCorpus("server")

    /// The challenges in the corpus are valid, so the fuzzer starts behind their checks.
    @Test(
        arguments: [
            ("passkey-register", "wrongCode"), ("passkey-sign-in", "unknownKey"), ("passkey-step-up", "unknownKey"),
        ])
    func passkeysOfTheCorpusReachTheLastCheck(_ name: String, _ reason: String) throws {
        #expect(FuzzedServer.shared.respond(to: try corpus.input(name))?.reason == reason)
    }

    @Test func noInputOfTheCorpusIsAcceptedOrStored() throws {
        let count = try corpus.checkEach { place, bytes in
            #expect(FuzzedServer.shared.complaint(about: bytes) == nil, "\(place)")
        }
        #expect(count >= 20)
    }
}
