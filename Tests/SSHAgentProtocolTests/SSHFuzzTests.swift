// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import FuzzProperties

@Suite struct SSHFuzzTests {
    @Test func theCorpusAndItsMutationsSatisfyTheFuzzProperty() throws {
        let inputs = try Repository.checkCorpus("ssh", mutations: 500) { name, bytes in
            let complaint = complaint(aboutSSH: bytes)
            #expect(complaint == nil, "\(name): \(bytes)")
        }
        #expect(inputs >= 8)
    }
}
