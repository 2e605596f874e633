// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

struct RequestFuzzerTests {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../../Fuzz/corpus/server").standardized

    /// The challenges in the corpus are valid, so the fuzzer starts behind their checks.
    @Test(
        arguments: [
            ("passkey-register", "wrongCode"), ("passkey-sign-in", "unknownKey"), ("passkey-step-up", "unknownKey"),
        ])
    func passkeysOfTheCorpusReachTheLastCheck(_ name: String, _ reason: String) throws {
        let input = Array(try Data(contentsOf: Self.folder.appending(path: name)))
        #expect(FuzzedServer.shared.respond(to: input)?.reason == reason)
    }

    @Test func noInputOfTheCorpusIsAcceptedOrStored() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 20)
        for file in files {
            let input = Array(try Data(contentsOf: file))
            // Each byte is removed and changed once, too.
            for index in input.indices {
                var (shorter, changed) = (input, input)
                shorter.remove(at: index)
                changed[index] ^= 0x20
                for variant in [input, shorter, changed] {
                    #expect(FuzzedServer.shared.complaint(about: variant) == nil, "\(file.lastPathComponent), \(index)")
                }
            }
        }
    }
}
