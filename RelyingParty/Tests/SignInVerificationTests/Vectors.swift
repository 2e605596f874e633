// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The vectors of WebAuthn Level 3, section "Test Vectors", as `Vectors/webauthn.py` computes them.
enum Vectors {
    static let all: [String: [String: [UInt8]]] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/webauthn.tsv")
        var vectors: [String: [String: [UInt8]]] = [:]
        // A file that cannot be read leaves nothing, and every test that names a vector fails.
        for line in (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? [] {
            let cells = line.split(separator: "\t").map(String.init)
            guard cells.count == 3 else { continue }
            vectors[cells[0], default: [:]][cells[1]] = bytes(cells[2])
        }
        return vectors
    }()

    /// The bytes of hexadecimal digits.
    static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
        }
    }

    static func value(_ vector: String, _ name: String) throws -> [UInt8] {
        try #require(all[vector]?[name], "\(vector) \(name)")
    }
}
