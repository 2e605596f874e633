// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The measurements of one key operation.
struct MeasuredKey: Sendable {
    let name: String
    var ours = Samples()
    var floor = Samples()
}

/// Measures keys in the app's process and the same operations with libcrypto alone, in alternating batches.
enum KeyRun {
    private static let inBatch = 20
    private static let rounds = 50

    static func measure() throws(BenchFailure) -> [MeasuredKey] {
        print("measuring keys", to: .standardError)
        var all: [MeasuredKey] = []
        for isRSA in [false, true] {
            let (key, peer) = (try make(isRSA), try make(isRSA))
            let floor = try KeyFloor(isRSA: isRSA)
            let kind = isRSA ? "RSA 2048" : "P-256"
            let algorithm =
                isRSA ? SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA256 : .ecdsaSignatureDigestX962SHA256
            let digest = Data(repeating: 7, count: 32) as CFData
            guard let half = SecKeyCopyPublicKey(key), let other = SecKeyCopyPublicKey(peer),
                let signature = SecKeyCreateSignature(key, algorithm, digest, nil)
            else { throw BenchFailure("A key cannot sign.") }
            var sign = MeasuredKey(name: "\(kind) sign")
            var verify = MeasuredKey(name: "\(kind) verify")
            var agree = MeasuredKey(name: "\(kind) agree")
            // An untimed call first, so that cold caches do not count.
            var untimed = Samples()
            try floor.sign(&untimed)
            for _ in 0..<rounds {
                for _ in 0..<inBatch {
                    let made = sign.ours.time { SecKeyCreateSignature(key, algorithm, digest, nil) }
                    if made == nil { throw BenchFailure("A key could not sign.") }
                }
                for _ in 0..<inBatch { try floor.sign(&sign.floor) }
                for _ in 0..<inBatch {
                    let isGenuine = verify.ours.time { SecKeyVerifySignature(half, algorithm, digest, signature, nil) }
                    if !isGenuine { throw BenchFailure("A key did not verify its signature.") }
                }
                for _ in 0..<inBatch { try floor.verify(&verify.floor) }
                guard !isRSA else { continue }
                for _ in 0..<inBatch {
                    let secret = agree.ours.time {
                        SecKeyCopyKeyExchangeResult(key, .ecdhKeyExchangeStandard, other, [:] as CFDictionary, nil)
                    }
                    if secret == nil { throw BenchFailure("A key could not agree.") }
                }
                for _ in 0..<inBatch { try floor.agree(&agree.floor) }
            }
            all += isRSA ? [sign, verify] : [sign, verify, agree]
        }
        return all
    }

    /// Measures signatures of a Secure Enclave key, made by the daemon, and of a key in this process.
    static func measureEnclave() throws(BenchFailure) -> MeasuredKey {
        let parameters: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
            throw BenchFailure("No key of the enclave: \(String(describing: error?.takeRetainedValue())).")
        }
        let inProcess = try make(false)
        let digest = Data(repeating: 7, count: 32) as CFData
        var measured = MeasuredKey(name: "P-256 sign in the enclave")
        for _ in 0..<rounds {
            for (key, samples) in [(key, \MeasuredKey.ours), (inProcess, \MeasuredKey.floor)] {
                for _ in 0..<inBatch {
                    let made = measured[keyPath: samples].time {
                        SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, digest, nil)
                    }
                    if made == nil { throw BenchFailure("A key could not sign.") }
                }
            }
        }
        return measured
    }

    private static func make(_ isRSA: Bool) throws(BenchFailure) -> SecKey {
        let parameters: [String: Any] = [
            kSecAttrKeyType as String: isRSA ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: isRSA ? 2048 : 256,
        ]
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, nil) else {
            throw BenchFailure("A key could not be made.")
        }
        return key
    }
}
