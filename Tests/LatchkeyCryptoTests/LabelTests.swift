// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto
import LatchkeyModel
import TestPromises
import TestSupport
import Testing

/// Compares every cryptographic label, file mark and record name with a golden value, so that editing a text cannot
/// change a key.
///
/// `LATCHKEY_WRITE_LABELS=1 swift test --filter LabelTests` writes the table again, for new labels.
@Suite struct LabelTests {
    private static let file = Repository.vectors("labels.tsv")
    private static let key = SymmetricKey(SecretBytes([UInt8](0..<32)))

    /// Kind, text as hexadecimal digits, and the key that a label derives from the bytes 0 to 31.
    private static func lines() throws -> [String] {
        let key = try #require(key)
        return try CryptographicLabel.allCases.map { label in
            "label\t\(hexadecimal(label.bytes))\t\(hexadecimal(try key.derive(label).secret.copyBytes()))"
        } + FileMark.allCases.map { "file\t\(hexadecimal($0.bytes))\t-" }
            + RecordName.allCases.map { "record\t\(hexadecimal(Array($0.rawValue.utf8)))\t-" }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(.promise("secret.type")) func everyLabelHasItsGoldenValue() throws {
        let lines = try Self.lines()
        if ProcessInfo.processInfo.environment["LATCHKEY_WRITE_LABELS"] != nil {
            let head = "# kind, words in hexadecimal, key derived from 00 01 ... 1f; made by LabelTests\n"
            try Data((head + lines.map { $0 + "\n" }.joined()).utf8).write(to: Self.file)
        }
        let golden = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("#") }
        #expect(lines == golden)
        #expect(Set(golden).count == golden.count, "no label is used twice")
    }
}
