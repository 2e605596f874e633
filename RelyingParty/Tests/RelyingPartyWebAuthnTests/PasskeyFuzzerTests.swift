// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

struct PasskeyFuzzerTests {
    @Test func everyInputOfTheCorpusHasTheProperties() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../../Fuzz/corpus/passkey").standardized
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 9)
        for file in files {
            let input = Array(try Data(contentsOf: file))
            // Each byte is removed and changed once, too.
            for index in input.indices {
                var (shorter, changed) = (input, input)
                shorter.remove(at: index)
                changed[index] ^= 0x20
                for variant in [input, shorter, changed] {
                    #expect(FuzzedPasskey.complaint(about: variant) == nil, "\(file.lastPathComponent), \(index)")
                }
            }
        }
    }
}
