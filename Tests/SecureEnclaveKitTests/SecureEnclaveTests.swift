// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import LocalAuthentication
import SecureEnclaveKit
import Security
import Testing

/// Secure Enclave keys that the app stores as their data representation.
@Suite struct SecureEnclaveTests {
    private let message = Data("message".utf8)

    private func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        try #require(
            SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, flags], nil))
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch { return (error as NSError).code }
    }

    @Test func publicKeyVerifiesSignatures_SE03() throws {
        try Simulator().run {
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            let signature = try key.signature(for: message)
            #expect(signature.rawRepresentation.count == 64)
            #expect(key.publicKey.isValidSignature(signature, for: message))
            #expect(!key.publicKey.isValidSignature(signature, for: message + [0]))
            let again = try SecureEnclave.P256.Signing.PublicKey(rawRepresentation: key.publicKey.rawRepresentation)
            #expect(again.isValidSignature(signature, for: message))
        }
    }

    @Test func keyIsRestoredFromItsDataRepresentation() throws {
        let simulator = try Simulator()
        try simulator.run {
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            try simulator.restart()
            let again = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: key.dataRepresentation)
            #expect(again.publicKey == key.publicKey)
            #expect(again.publicKey.isValidSignature(try again.signature(for: message), for: message))
            // The key is not stored in the keychain.
            #expect(SecItemCopyMatching([kSecClass: kSecClassKey] as CFDictionary, nil) == errSecItemNotFound)
        }
    }

    @Test func twoKeysComputeTheSameSharedSecret_SE03() throws {
        try Simulator().run {
            let one = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let two = try SecureEnclave.P256.KeyAgreement.PrivateKey()
            let secret = try one.sharedSecretFromKeyAgreement(with: two.publicKey)
            #expect(try secret == two.sharedSecretFromKeyAgreement(with: one.publicKey))
            #expect(secret.withUnsafeBytes { $0.count } == 32)
            let again = try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: one.dataRepresentation)
            #expect(try secret == again.sharedSecretFromKeyAgreement(with: two.publicKey))
        }
    }

    @Test func protectedKeyPromptsForEachUseUnlessItsContextIsAuthenticated_SE04() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let data = try SecureEnclave.P256.Signing.PrivateKey(accessControl: control(.biometryAny))
                .dataRepresentation
            let key = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: data)
            simulator.cancel()
            #expect(code { _ = try key.signature(for: message) } == LAError.userCancel.rawValue)
            simulator.touch(matching: true)
            #expect(code { _ = try key.signature(for: message) } == nil)
            let context = LAContext()
            simulator.touch(matching: true)
            try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "sign")
            context.interactionNotAllowed = true
            let bound = try SecureEnclave.P256.Signing.PrivateKey(
                dataRepresentation: data, authenticationContext: context)
            #expect(code { _ = try bound.signature(for: message) } == nil)
        }
    }

    @Test func keyBoundToTheEnrolmentSetFailsAfterTheSetChanged_SE05() throws {
        let simulator = try Simulator()
        try simulator.run {
            let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: control(.biometryCurrentSet))
            try simulator.replaceFinger()
            let again = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: key.dataRepresentation)
            simulator.touch(matching: true)
            #expect(code { _ = try again.signature(for: message) } == LAError.authenticationFailed.rawValue)
        }
    }

    @Test func foreignOrChangedDataRepresentationIsRejected() throws {
        let simulator = try Simulator()
        let data = try simulator.run { try SecureEnclave.P256.Signing.PrivateKey().dataRepresentation }
        func refusal(_ data: Data) -> Int? {
            code { _ = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: data) }
        }
        simulator.run(as: "another") { #expect(refusal(data) == Int(errSecParam)) }
        try Simulator().run { #expect(refusal(data) == Int(errSecParam)) }
        simulator.run {
            #expect(refusal(data) == nil)
            for index in stride(from: 0, to: data.count, by: 7) {
                var changed = data
                changed[index] ^= 0x10
                // The encrypted private key is authenticated only when it is used.
                let outcome = code {
                    let key = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: changed)
                    _ = try key.signature(for: message)
                }
                #expect(outcome != nil, "byte \(index)")
            }
            for other in [Data(), Data([0]), data.dropLast(), data + [0], Data(repeating: 0, count: 1 << 20)] {
                #expect(refusal(Data(other)) == Int(errSecParam))
            }
        }
    }

    @Test func isAvailableReportsWhetherTheMachineHasASecureEnclave() throws {
        try Simulator().run { #expect(SecureEnclave.isAvailable) }
        try Simulator(hasSecureEnclave: false).run {
            #expect(!SecureEnclave.isAvailable)
            #expect(code { _ = try SecureEnclave.P256.Signing.PrivateKey() } == Int(errSecNotAvailable))
        }
    }

    @Test func pointsAndSignaturesOfWrongLengthAreRejected() throws {
        for data in [Data(), Data([4]), Data(repeating: 4, count: 65)] {
            #expect(code { _ = try SecureEnclave.P256.Signing.PublicKey(x963Representation: data) } != nil)
            #expect(code { _ = try SecureEnclave.P256.KeyAgreement.PublicKey(x963Representation: data) } != nil)
            #expect(code { _ = try SecureEnclave.P256.Signing.ECDSASignature(rawRepresentation: data) } != nil)
        }
    }
}
