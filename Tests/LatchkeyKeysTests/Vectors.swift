// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeys
import LatchkeyModel
import Testing

/// Lines of Tests/Vectors/keys.tsv of one kind, without the kind.
func vectors(_ kind: String) throws -> [[String]] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: folder.appending(components: "Vectors", "keys.tsv"), encoding: .utf8)
    let rows = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    return rows.filter { $0.first == kind }.map { Array($0.dropFirst()) }
}

func curve(_ bits: String) throws -> Curve { try #require(Int(bits).flatMap(Curve.init(bitCount:))) }

func digest(_ name: String) throws -> DigestAlgorithm {
    try #require(DigestAlgorithm.allCases.first { "\($0)" == name })
}

/// Files of the fuzzer's corpus: the first byte chooses the reader.
enum Corpus {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(components: "Fuzz", "corpus", "key")

    static func all() throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }.map { ($0.lastPathComponent, try Array(Data(contentsOf: $0))) }
    }

    /// What the reader gets of that file.
    static func bytes(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: folder.appending(component: name)).dropFirst())
    }
}
