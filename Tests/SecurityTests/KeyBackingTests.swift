// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Security
import Testing

/// A private key outside this process: it signs and derives secrets, and cannot be exported.
private struct DistantKey: KeyBacking {
    let distant: PrivateKey
    var refusal: Failure?

    var publicKey: PublicKey { distant.publicKey }
    var isPrivate: Bool { true }
    var attributes: [String: Any] { [kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave] }

    func externalRepresentation() throws(Failure) -> SecretBytes {
        throw Failure(.unimplemented, "The key never leaves its place.")
    }

    func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] {
        if let refusal { throw refusal }
        return try distant.signECDSA(digest)
    }

    func agree(with peer: PublicKey) throws(Failure) -> SecretBytes {
        if let refusal { throw refusal }
        return try distant.agree(with: peer)
    }
}

/// The functions of the API behave alike for every implementation of `KeyBacking`.
@Suite struct KeyBackingTests {
    private func make(refusal: Failure? = nil) throws -> SecKey {
        SecKey(DistantKey(distant: try PrivateKey.generate(.p256), refusal: refusal))
    }

    @Test func anExternalKeySignsAgreesAndDecrypts_SE03() throws {
        let key = try make()
        let half = try publicKey(key)
        let message = Data("message".utf8)
        for (name, algorithm) in keyAlgorithms where name.contains("Message") && name.hasPrefix("ecdsa") {
            #expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm))
            #expect(
                try verify(half, algorithm, message, sign(key, algorithm, message).get()) == errSecSuccess, "\(name)")
        }
        for (name, algorithm) in keyAlgorithms where name.hasPrefix("ecies") {
            #expect(try decrypt(key, algorithm, encrypt(half, algorithm, message).get()).get() == message, "\(name)")
        }
        let peer = try KeyKind.p256.make()
        let algorithm = SecKeyAlgorithm.ecdhKeyExchangeStandard
        #expect(try exchange(key, algorithm, publicKey(peer)).get() == exchange(peer, algorithm, half).get())
        for (name, algorithm) in keyAlgorithms where name.hasPrefix("rsa") {
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, algorithm))
            #expect(!SecKeyIsAlgorithmSupported(key, .decrypt, algorithm))
        }
    }

    @Test func anExternalKeyIsNotExported_SE01_SK02() throws {
        let key = try make()
        #expect(try outcome { SecKeyCopyExternalRepresentation(key, $0) }.status == errSecUnimplemented)
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes[kSecValueData as String] == nil)
        #expect(attributes[kSecAttrTokenID as String] as? String == "com.apple.setoken")
        #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == 256)
        let half = try publicKey(key)
        #expect(try external(half).count == 65)
        #expect((SecKeyCopyAttributes(half) as? [String: Any])?[kSecAttrTokenID as String] == nil)
    }

    @Test func refusalsOfTheBackingReachTheCaller_SK01() throws {
        let refusals: [(Failure, OSStatus)] = [
            (Failure(.userCancel, "Cancelled."), errSecUserCanceled),
            (Failure(.interactionNotAllowed, "No prompt."), errSecInteractionNotAllowed),
            (Failure(.itemAuthenticationFailed, "Not proven."), errSecAuthFailed),
            (Failure(.daemonUnavailable, "No daemon.", hint: "Start it."), errSecNotAvailable),
        ]
        let peer = try publicKey(KeyKind.p256.make())
        for (refusal, status) in refusals {
            let key = try make(refusal: refusal)
            #expect(try sign(key, .ecdsaSignatureMessageX962SHA256, Data([1])).status == status)
            #expect(try exchange(key, .ecdhKeyExchangeStandard, peer).status == status)
            let sealed = try encrypt(publicKey(key), .eciesEncryptionStandardX963SHA256AESGCM, Data([1])).get()
            #expect(try decrypt(key, .eciesEncryptionStandardX963SHA256AESGCM, sealed).status == status)
        }
        var error: Unmanaged<CFError>?
        let key = try make(refusal: refusals[3].0)
        #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, Data([1]) as CFData, &error) == nil)
        let details = try #require(error).takeRetainedValue().userInfo
        #expect(details[NSLocalizedDescriptionKey] as? String == "No daemon. Start it.")
        #expect(details[NSLocalizedRecoverySuggestionErrorKey] as? String == "Start it.")
    }

    @Test func invalidParametersAreRefusedBeforeTheKeyIsUsed() throws {
        let key = try make(refusal: Failure(.userCancel, "the user was prompted"))
        let peer = try publicKey(KeyKind.p256.make())
        #expect(try sign(key, .ecdsaSignatureDigestX962SHA256, Data([1])).status == errSecParam)
        #expect(try exchange(key, .ecdhKeyExchangeStandardX963SHA256, peer).status == errSecParam)
        let bytes = Data([4]) + Data(count: 80)
        #expect(try decrypt(key, .eciesEncryptionStandardX963SHA256AESGCM, bytes).status == errSecParam)
    }
}
