// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import FuzzProperties

/// The corpus of the fuzzer of catalogues, and changed copies of it.
@Suite struct CatalogueFuzzTests {
    @Test func noCatalogueCanMislead() throws {
        let inputs = try Repository.checkCorpus("words", mutations: 100) { name, bytes in
            let complaint = complaint(aboutCatalogue: bytes)
            #expect(complaint == nil, "\(name): \(complaint ?? "")")
        }
        #expect(inputs >= 7)
    }
}
