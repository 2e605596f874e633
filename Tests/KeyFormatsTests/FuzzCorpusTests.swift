// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import TestSupport
import Testing

/// Checks the fuzzer's property for its corpus and for deterministic mutations of it.
@Suite struct FuzzCorpusTests {
    @Test func corpusFilesSatisfyTheFuzzProperty() throws {
        let corpus = try Repository.inputs("format")
        #expect(corpus.count >= PublicKeyFormat.allCases.count)
        for (name, bytes) in corpus { #expect(complaint(aboutFormat: bytes) == nil, "\(name)") }
    }

    @Test func corpusFilesAreValidInTheirFormat() throws {
        for (name, bytes) in try Repository.inputs("format") {
            let body = bytes.dropFirst()
            let text = String(decoding: body, as: UTF8.self)
            switch PublicKeyFormat(rawValue: try #require(bytes.first)) {
            case .externalRepresentation: _ = try PortablePublicKey(externalRepresentation: body)
            case .der: _ = try PortablePublicKey(der: body)
            case .pem: _ = try PortablePublicKey(pem: text)
            case .openSSH: _ = try PortablePublicKey(openSSH: text)
            case .jwk: _ = try PortablePublicKey(jwk: members(Array(body)))
            case .base64: #expect(Base64.standard.decode(body) != nil || Base64.url.decode(body) != nil)
            case nil: Issue.record("\(name) selects no format")
            }
        }
    }

    @Test func mutatedCorpusSatisfiesTheFuzzProperty() throws {
        var numbers = SeededGenerator(seed: 0)
        for (name, bytes) in try Repository.inputs("format") {
            for _ in 0..<300 {
                var changed = bytes
                for _ in 0...numbers.next(below: 3) {
                    let position = 1 + numbers.next(below: changed.count - 1)
                    guard position < changed.count else { continue }
                    switch numbers.next(below: 3) {
                    case 0: changed[position] ^= UInt8(truncatingIfNeeded: 1 << numbers.next(below: 8))
                    case 1: changed.remove(at: position)
                    default: changed.insert(UInt8(truncatingIfNeeded: numbers.next(below: 256)), at: position)
                    }
                }
                #expect(complaint(aboutFormat: changed) == nil, "\(name)")
            }
        }
    }
}
