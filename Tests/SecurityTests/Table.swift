// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A file in `Tests/Vectors` with Apple's names and values; each line has a kind, a name and a value.
struct Table {
    private let rows: [(kind: String, name: String, value: String)]

    init(_ file: String) throws {
        let text = try String(contentsOf: Repository.vectors(file), encoding: .utf8)
        rows = try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            try #require(words.count == 3, "a line is kind, name and value: \(line)")
            return (words[0], words[1], words[2])
        }
    }

    /// The values of one kind, by name.
    func values(_ kind: String) -> [String: String] {
        Dictionary(uniqueKeysWithValues: rows.filter { $0.kind == kind }.map { ($0.name, $0.value) })
    }

    /// The names of the public constants with a prefix that the sources of a module declare.
    static func declared(in module: String, prefix: String) throws -> Set<String> {
        let folder = try Repository.sources(of: module)
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(component: file), encoding: .utf8)
            for line in text.split(separator: "\n") {
                guard let found = line.range(of: "public let \(prefix)") else { continue }
                let name = line[found.lowerBound...].dropFirst("public let ".count)
                    .prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                names.insert(String(name))
            }
        }
        return names
    }
}
