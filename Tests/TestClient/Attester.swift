// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecureEnclaveKit
import Security

/// Enrols with a relying party, or answers its challenge and proves a key; messages are lines of base64.
struct Attester {
    private let tag: String

    init(_ tag: String) { self.tag = tag }

    /// Prints the attestation key and the request, or reads attestation key, challenge and nonce and prints the answer, the
    /// proof and the public key.
    func run(_ verb: String) {
        do {
            switch verb {
            case "enroll":
                let made = try DeviceAttestation(enrollingWith: "example.com")
                show([made.dataRepresentation, made.request ?? Data()])
            default:
                let lines = (0..<3).map { _ in readLine().flatMap { Data(base64Encoded: $0) } ?? Data() }
                let attestation = DeviceAttestation(relyingParty: "example.com", dataRepresentation: lines[0])
                let key = try key()
                guard let point = SecKeyCopyPublicKey(key).flatMap({ SecKeyCopyExternalRepresentation($0, nil) }) else {
                    exit(3)
                }
                show([
                    try attestation.answer(lines[1]), try attestation.proof(of: key, nonce: lines[2]), point as Data,
                ])
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    private func show(_ messages: [Data]) { for message in messages { print(message.base64EncodedString()) } }

    private func key() throws -> SecKey {
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: Data(tag.utf8),
            kSecAttrKeyClass as String: kSecAttrKeyClassPrivate, kSecReturnRef as String: true,
        ]
        var result: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, let key = result as? SecKey else {
            exit(2)
        }
        return key
    }
}
