// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import SecureEnclaveKit
import Security
import Testing

/// The errors of the API on a machine without a TPM. `AttestationCommandTests` has an app on a machine with one.
@Suite struct DeviceAttestationTests {
    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as NSError).domain == NSOSStatusErrorDomain ? (error as NSError).code : 0
        }
    }

    private func makeKey() throws -> SecKey {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
        ]
        return try #require(SecKeyCreateRandomKey(attributes as CFDictionary, nil))
    }

    @Test func keysOfTheSoftwareCannotAttest() throws {
        try Simulator().run {
            #expect(code { _ = try DeviceAttestation(enrollingWith: "example.com") } == Int(errSecUnimplemented))
            let stored = DeviceAttestation(relyingParty: "example.com", dataRepresentation: Data([1]))
            #expect(stored.request == nil)
            let key = try makeKey()
            #expect(code { _ = try stored.proof(of: key, nonce: Data(count: 32)) } == Int(errSecUnimplemented))
            #expect(code { _ = try stored.proof(of: key, nonce: Data(count: 15)) } == Int(errSecParam))
        }
    }

    @Test func aKeyOutsideTheEnclaveAndAnImpossibleNameAreRefused() throws {
        try Simulator().run {
            #expect(code { _ = try DeviceAttestation(enrollingWith: "two words") } == Int(errSecParam))
            let stored = DeviceAttestation(relyingParty: "example.com", dataRepresentation: Data([1]))
            let publicKey = try #require(SecKeyCopyPublicKey(makeKey()))
            #expect(code { _ = try stored.proof(of: publicKey, nonce: Data(count: 32)) } == Int(errSecParam))
            #expect(code { _ = try stored.answer(Data([1])) } == Int(errSecParam))
            #expect(code { _ = try stored.answer(Data(count: 2000)) } == Int(errSecParam))
            let large = DeviceAttestation(relyingParty: "example.com", dataRepresentation: Data(count: 5000))
            #expect(code { _ = try large.answer(Data([1])) } == Int(errSecParam))
        }
    }
}
