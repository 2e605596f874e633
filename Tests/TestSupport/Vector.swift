// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A line of a file of `Tests/Vectors/wire`: a name and the payload's bytes.
package struct Vector: Sendable, CustomTestStringConvertible {
    package let name: String
    package let payload: [UInt8]
    package var testDescription: String { name }

    /// The folder of the files.
    private static let folder = Repository.vectors("wire")

    /// The files of client messages.
    package static let ofClients = ["requests", "items", "replies", "enclave", "migration", "secrets"]

    /// Loads the vectors of the files.
    package static func load(_ names: [String]) throws -> [Vector] {
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
