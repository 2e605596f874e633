// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

/// The rows of one kind in Tests/Vectors/keys.tsv, without the column of the kind.
func vectors(_ kind: String) throws -> [[String]] {
    let text = try String(contentsOf: Repository.vectors("keys.tsv"), encoding: .utf8)
    let rows = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    return rows.filter { $0.first == kind }.map { Array($0.dropFirst()) }
}

func curve(_ bits: String) throws -> Curve { try #require(Int(bits).flatMap(Curve.init(bitCount:))) }

func digest(_ name: String) throws -> DigestAlgorithm {
    try #require(DigestAlgorithm.allCases.first { "\($0)" == name })
}
