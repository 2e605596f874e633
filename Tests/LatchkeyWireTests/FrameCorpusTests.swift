// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyWire
import Testing

/// The corpus of the fuzzer of frames, through the fuzzer's own property.
@Suite struct FrameCorpusTests {
    static let folder = Vector.folder.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(components: "Fuzz", "corpus", "frame")

    @Test func noCommittedInputBreaksTheProperty() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        #expect(files.count < 200)
        var accepted = 0
        for file in files {
            let payload = try Array(Data(contentsOf: file))
            let complaint = complaint(aboutFrame: payload)
            #expect(complaint == nil, "\(file.lastPathComponent)")
            if refusal(of: payload) == nil { accepted += 1 }
        }
        print("frame corpus: \(files.count) inputs, \(accepted) of them messages")
        #expect(accepted > 0)
        #expect(accepted < files.count)
    }
}
