// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

@testable import FuzzProperties

/// Every input of the frame fuzzer's corpus has the property that the fuzzer checks.
@Suite struct FrameCorpusTests {
    @Test(.promise("parse.strict")) func everyCorpusInputHasTheProperty() throws {
        let files = try Repository.inputs("frame")
        #expect(!files.isEmpty)
        #expect(files.count < 250)
        var accepted = 0
        for (name, payload) in files {
            let complaint = complaint(aboutFrame: payload)
            #expect(complaint == nil, "\(name)")
            if refusal(of: payload) == nil { accepted += 1 }
        }
        print("frame corpus: \(files.count) inputs, \(accepted) of them messages")
        #expect(accepted > 0)
        #expect(accepted < files.count)
    }
}
