// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A line of a file of `Tests/Vectors/wire`: a name and the payload's bytes.
struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    let payload: [UInt8]
    var testDescription: String { name }

    /// The folder of the files.
    static let folder = Repository.vectors("wire")

    /// Loads the vectors of the files; by default those of client messages.
    static func load(_ names: [String] = ["requests", "items", "replies", "enclave", "migration"]) throws -> [Vector] {
        try names.flatMap { name in
            try String(contentsOf: folder.appending(component: name + ".hex"), encoding: .utf8)
                .split(separator: "\n").filter { !$0.hasPrefix("#") }
                .map { line in
                    let words = line.split(separator: " ")
                    try #require(words.count == 2, "a line is a name and hexadecimal digits: \(line)")
                    return Vector(name: String(words[0]), payload: try hex(words[1]))
                }
        }
    }
}

/// Bytes as hexadecimal digits.
func digits(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
        let text = String(byte, radix: 16)
        return text.count == 1 ? "0" + text : text
    }.joined()
}
