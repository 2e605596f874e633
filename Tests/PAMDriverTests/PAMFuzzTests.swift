// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import FuzzProperties

@Suite struct PAMFuzzTests {
    @Test func theCorpusAndItsMutationsSatisfyTheFuzzProperty() throws {
        let inputs = try Repository.checkCorpus("pam", mutations: 500) { name, bytes in
            let complaint = complaint(aboutPAM: bytes)
            #expect(complaint == nil, "\(name): \(bytes)")
        }
        #expect(inputs >= 6)
    }
}
