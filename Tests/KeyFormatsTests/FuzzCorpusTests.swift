// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyFormats
import Testing

/// The fuzzer's property over its corpus and over changes of it that are always the same.
@Suite struct FuzzCorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(components: "Fuzz", "corpus", "format")

    private static func corpus() throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }.map { ($0.lastPathComponent, try Array(Data(contentsOf: $0))) }
    }

    @Test func everyFileKeepsTheProperty() throws {
        let corpus = try Self.corpus()
        #expect(corpus.count >= PublicKeyFormat.allCases.count)
        for (name, bytes) in corpus { #expect(complaint(aboutFormat: bytes) == nil, "\(name)") }
    }

    @Test func theFilesAreKeysOfTheirForms() throws {
        for (name, bytes) in try Self.corpus() {
            let body = bytes.dropFirst()
            let text = String(decoding: body, as: UTF8.self)
            switch PublicKeyFormat(rawValue: try #require(bytes.first)) {
            case .externalRepresentation: _ = try PortablePublicKey(externalRepresentation: body)
            case .der: _ = try PortablePublicKey(der: body)
            case .pem: _ = try PortablePublicKey(pem: text)
            case .openSSH: _ = try PortablePublicKey(openSSH: text)
            case .jwk: _ = try PortablePublicKey(jwk: members(Array(body)))
            case .base64: #expect(Base64.standard.decode(body) != nil || Base64.url.decode(body) != nil)
            case nil: Issue.record("\(name) chooses no form")
            }
        }
    }

    @Test func changedBytesKeepTheProperty() throws {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        func next(below bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(truncatingIfNeeded: state >> 16) % max(bound, 1)
        }
        for (name, bytes) in try Self.corpus() {
            for _ in 0..<300 {
                var changed = bytes
                for _ in 0...next(below: 3) {
                    let position = 1 + next(below: changed.count - 1)
                    guard position < changed.count else { continue }
                    switch next(below: 3) {
                    case 0: changed[position] ^= UInt8(truncatingIfNeeded: 1 << next(below: 8))
                    case 1: changed.remove(at: position)
                    default: changed.insert(UInt8(truncatingIfNeeded: next(below: 256)), at: position)
                    }
                }
                #expect(complaint(aboutFormat: changed) == nil, "\(name)")
            }
        }
    }
}
