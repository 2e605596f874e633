// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the readers of keys, signatures and ciphertexts; `scripts/fuzz 60 key` runs it. The tests of
// LatchkeyKeys check the same property for the corpus and for their own inputs.

import LatchkeyCrypto
import LatchkeyModel

/// The readers; the first byte of an input selects one by its raw value.
enum KeyReader: UInt8, CaseIterable {
    case rsaPublic
    case rsaPrivate
    case point
    case curvePrivate
    case publicKeyInfo
    case privateKeyInfo
    case signature
    case integratedEncryption
}

/// Passes one input to a reader and describes how the result violates the property; nil when it does not.
///
/// The first byte selects the reader. Every rejection is correct; an accepted input must be written exactly as it was
/// read, and its key must work.
func complaint(aboutKey payload: [UInt8]) -> String? {
    guard let first = payload.first else { return nil }
    let bytes = Array(payload.dropFirst())
    switch KeyReader(rawValue: first % UInt8(KeyReader.allCases.count)) {
    case .rsaPublic: return complaint(about: PublicKey(bytes, type: .rsa), bytes)
    case .rsaPrivate: return complaint(about: PrivateKey(SecretBytes(bytes), type: .rsa), bytes)
    case .point: return complaint(about: PublicKey(point: bytes), bytes)
    case .curvePrivate:
        return Curve.allCases.lazy.compactMap { curve in
            complaint(about: PrivateKey(SecretBytes(bytes), type: .ellipticCurve(curve)), bytes)
        }.first
    case .publicKeyInfo:
        guard let key = PublicKey(subjectPublicKeyInfo: bytes) else { return nil }
        return key.subjectPublicKeyInfo == bytes ? nil : "accepts a public key that it does not write"
    case .privateKeyInfo:
        guard let key = PrivateKey(pkcs8: SecretBytes(bytes)) else { return nil }
        return complaint(about: key, key.externalRepresentation.copyBytes())
    case .signature:
        return Curve.allCases.lazy.compactMap { curve -> String? in
            guard let raw = ECDSASignature.raw(der: bytes, curve: curve) else { return nil }
            return ECDSASignature.der(raw: raw, curve: curve) == bytes ? nil : "accepts DER that it does not write"
        }.first
    case .integratedEncryption:
        guard let key = PrivateKey(scalar: SecretBytes([UInt8](repeating: 7, count: 32)), curve: .p256) else {
            return "rejects a valid scalar"
        }
        let encryption = IntegratedEncryption(.sha256, derivesNonce: first >= 128)
        _ = try? encryption.open(bytes, curve: .p256) { (peer) throws(Failure) in try key.agree(with: peer) }
        return nil
    case nil: return nil
    }
}

private func complaint(about key: PublicKey?, _ bytes: [UInt8]) -> String? {
    guard let key else { return nil }
    if key.externalRepresentation != bytes { return "writes another public key than it read" }
    if PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo) != key { return "rejects its own public key" }
    return nil
}

private func complaint(about key: PrivateKey?, _ bytes: [UInt8]) -> String? {
    guard let key else { return nil }
    if key.externalRepresentation.copyBytes() != bytes { return "writes another private key than it read" }
    if PrivateKey(pkcs8: key.pkcs8)?.publicKey != key.publicKey { return "rejects its own private key" }
    let digest = [UInt8](repeating: 1, count: 32)
    switch key.type {
    case .rsa:
        guard let signature = try? key.signRSA(digest, .pkcs1Digest(.sha256)) else { return "a key cannot sign" }
        return key.publicKey.verifiesRSA(digest, .pkcs1Digest(.sha256), signature: signature)
            ? nil : "a key does not verify its own signature"
    case .ellipticCurve(let curve):
        guard let raw = try? key.signECDSA(digest), let der = ECDSASignature.der(raw: raw, curve: curve) else {
            return "a key cannot sign"
        }
        return key.publicKey.verifiesECDSA(digest, der: der) ? nil : "a key does not verify its own signature"
    }
}
