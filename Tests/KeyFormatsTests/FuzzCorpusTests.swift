// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import TestSupport
import Testing

@testable import FuzzProperties

@Suite struct FuzzCorpusTests {
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

    @Test func theCorpusAndItsMutationsSatisfyTheFuzzProperty() throws {
        let inputs = try Repository.checkCorpus("format", mutations: 300) { name, bytes in
            let complaint = complaint(aboutFormat: bytes)
            #expect(complaint == nil, "\(name): \(bytes)")
        }
        #expect(inputs >= PublicKeyFormat.allCases.count)
    }
}
