// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// docs/compatibility.md fits a terminal and lists every unsupported family of symbols.
@Suite struct DifferencesPageTests {
    private let lines: [Substring]

    init() throws {
        lines = try String(contentsOf: Repository.document("compatibility.md"), encoding: .utf8).split(separator: "\n")
    }

    @Test func noLineIsLongerThan120Characters() {
        for line in lines { #expect(line.count <= 120, "\(line)") }
    }

    @Test(arguments: [
        "SecCode", "SecTask", "Authorization", "CMSEncoder", "SecTransform", "SSL", "kSecOID", "SecTrust",
    ])
    func everyUnsupportedFamilyHasARow(family: String) throws {
        let start = try #require(lines.firstIndex(of: "## Not here"))
        #expect(lines[start...].contains { $0.hasPrefix("| `\(family)...`") || $0.contains("`\(family)...`") })
    }
}
