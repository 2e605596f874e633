// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the formats of public keys; `scripts/fuzz 60 format` runs it. The tests of KeyFormats check the
// same property for the corpus and for their own inputs.

import KeyFormats

/// The formats; the first byte of an input selects one by its raw value.
enum PublicKeyFormat: UInt8, CaseIterable {
    case externalRepresentation, der, pem, openSSH, jwk, base64
}

/// Reads one input and describes how it violates the property; nil when it does not.
///
/// The first byte selects the format. The members of a JSON Web Key are lines of name and value. Every rejection is
/// correct; an accepted input must be written exactly as it was read, and its key must round-trip in every format.
func complaint(aboutFormat payload: [UInt8]) -> String? {
    guard let first = payload.first else { return nil }
    let bytes = Array(payload.dropFirst())
    let text = String(decoding: bytes, as: UTF8.self)
    switch PublicKeyFormat(rawValue: first % UInt8(PublicKeyFormat.allCases.count)) {
    case .externalRepresentation:
        return complaint(try? PortablePublicKey(externalRepresentation: bytes)) { $0.externalRepresentation == bytes }
    case .der: return complaint(try? PortablePublicKey(der: bytes)) { $0.der == bytes }
    case .pem:
        return complaint(try? PortablePublicKey(pem: text)) { key in
            let lines = String(decoding: bytes.filter { $0 != 0x0d }, as: UTF8.self)
            return key.pem == lines || key.pem == lines + "\n"
        }
    case .openSSH:
        guard let (key, comment) = try? PortablePublicKey.readOpenSSH(text) else { return nil }
        return complaint(key) { key in
            let line = try? key.openSSH(comment: comment)
            return line.map { [$0, $0 + "\n", $0 + "\r\n"].contains { $0.utf8.elementsEqual(text.utf8) } } ?? false
        }
    case .jwk:
        let members = members(bytes)
        return complaint(try? PortablePublicKey(jwk: members)) { key in
            key.jwk.allSatisfy { members[$0.key] == $0.value }
        }
    case .base64:
        for alphabet in [Base64.standard, .url] {
            guard let read = alphabet.decode(bytes) else { continue }
            guard alphabet.encode(read).utf8.elementsEqual(bytes) else { return "accepts non-canonical base64" }
        }
        return nil
    case nil: return nil
    }
}

/// Parses lines of a name, a space and a value into members.
func members(_ bytes: [UInt8]) -> [String: String] {
    var members: [String: String] = [:]
    for line in bytes.split(separator: 0x0a) {
        let parts = line.split(separator: 0x20, maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
        if parts.count == 2 { members[parts[0]] = parts[1] }
    }
    return members
}

private func complaint(_ key: PortablePublicKey?, _ isSame: (PortablePublicKey) -> Bool) -> String? {
    guard let key else { return nil }
    guard isSame(key) else { return "writes other bytes than it read" }
    guard (try? PortablePublicKey(der: key.der)) == key, (try? PortablePublicKey(pem: key.pem)) == key,
        let line = try? key.openSSH(comment: "c"), (try? PortablePublicKey(openSSH: line)) == key,
        (try? PortablePublicKey(jwk: key.jwk)) == key,
        (try? PortablePublicKey(externalRepresentation: key.externalRepresentation)) == key
    else { return "rejects its own output" }
    return nil
}
