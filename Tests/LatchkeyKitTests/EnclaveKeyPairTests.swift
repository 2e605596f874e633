// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import Security
import TestSupport
import Testing

@Suite(.simulator()) struct EnclaveKeyPairTests {
    private let nonce = Data("nonce".utf8)

    private func failureOfSigning(_ pair: EnclaveKeyPair, _ prompt: KeychainPrompt = .standard) -> KeychainError? {
        failure { () throws(KeychainError) in _ = try pair.sign(nonce, prompt: prompt) }
    }

    @Test func aPairIsCreatedFoundAndDeleted() throws {
        #expect(try EnclaveKeyPair.find(tag: "login") == nil)
        let pair = try EnclaveKeyPair.create(tag: "login")
        #expect(try EnclaveKeyPair.find(tag: "login") == pair)
        #expect(try EnclaveKeyPair.find(tag: "other") == nil)
        let again = failure { () throws(KeychainError) in _ = try EnclaveKeyPair.create(tag: "login") }
        #expect(again?.kind == .alreadyThere)
        try EnclaveKeyPair.remove(tag: "login")
        try EnclaveKeyPair.remove(tag: "login")
        #expect(try EnclaveKeyPair.find(tag: "login") == nil)
        #expect(failureOfSigning(pair)?.kind == .itemNotFound)
        #expect(try machine().transcript.lines.isEmpty, "no call prompts")
    }

    @Test func aSignatureVerifiesForItsMessageOnly() throws {
        let pair = try EnclaveKeyPair.create(tag: "login")
        try machine().touch(matching: true)
        let signature = try pair.sign(nonce, prompt: .asking("Log in"))
        #expect(pair.verify(signature, of: nonce))
        #expect(!pair.verify(signature, of: Data("other".utf8)))
        #expect(!pair.verify(signature.dropLast(), of: nonce))
        #expect(!pair.verify(Data(), of: nonce))
        let other = try EnclaveKeyPair.create(tag: "other")
        #expect(!other.verify(signature, of: nonce))
        #expect(try machine().transcript.lines.contains { $0.contains("Log in") })
    }

    @Test func aProofDoesNotPromptAgain() async throws {
        let pair = try EnclaveKeyPair.create(tag: "login")
        try machine().touch(matching: true)
        let proof = try await BiometricAuth().authenticate(.biometry)
        #expect(pair.verify(try await pair.sign(nonce, prompt: proof), of: nonce))
        #expect(pair.verify(try await pair.sign(nonce, prompt: proof), of: nonce))
        #expect(try machine().transcript.lines.filter { $0.contains("tries left: 3") }.count == 1)
    }

    @Test func decryptingPromptsAndEncryptingDoesNot() async throws {
        let pair = try EnclaveKeyPair.create(tag: "box")
        let sealed = try pair.encrypt(Data("secret".utf8))
        #expect(sealed.range(of: Data("secret".utf8)) == nil)
        #expect(try machine().transcript.lines.isEmpty)
        try machine().touch(matching: true)
        #expect(try await pair.decrypt(sealed) == Data("secret".utf8))
        var changed = sealed
        changed[changed.count - 1] ^= 1
        try machine().touch(matching: true)
        #expect(throws: KeychainError.self) { try pair.decrypt(changed, prompt: .standard) as Data }
    }

    @Test func failuresHaveTheirKinds() throws {
        let pair = try EnclaveKeyPair.create(tag: "login")
        try machine().cancel()
        #expect(failureOfSigning(pair)?.kind == .cancelled)
        #expect(failureOfSigning(pair, .never)?.kind == .interactionNotAllowed)
        for _ in 0..<3 { try machine().touch(matching: false) }
        #expect(failureOfSigning(pair)?.kind == .authenticationFailed)
    }

    @Test func anEnrolmentChangeDisablesThePair() throws {
        let pair = try EnclaveKeyPair.create(tag: "login")
        try machine().replaceFinger()
        try machine().touch(matching: true)
        #expect(failureOfSigning(pair) != nil)
        #expect(try machine().unusedActions.count == 1, "no prompt has used the touch")
        try machine().forgetActions()
    }

    /// The tag alone would find the key of the later pair.
    @Test func aPairWithAReplacedKeyIsItemNotFound() throws {
        let rule = KeychainProtection(.whenUnlockedThisDeviceOnly)
        let first = try EnclaveKeyPair.create(tag: "login", protection: rule)
        let sealed = try first.encrypt(nonce)
        try EnclaveKeyPair.remove(tag: "login")
        let second = try EnclaveKeyPair.create(tag: "login", protection: rule)
        #expect(failureOfSigning(first)?.kind == .itemNotFound)
        let opening = failure { () throws(KeychainError) in
            _ = try first.decrypt(sealed, prompt: .standard) as Data
        }
        #expect(opening?.kind == .itemNotFound)
        #expect(second.verify(try second.sign(nonce, prompt: .standard) as Data, of: nonce))
    }

    @Test func thePublicKeyIsExportedAsDERAndPEM() throws {
        let pair = try EnclaveKeyPair.create(tag: "login")
        #expect(pair.publicKey.count == 65)
        #expect(pair.publicKey.first == 4)
        #expect(pair.publicKeyDER.count == 91)
        #expect(pair.publicKeyDER.suffix(65) == pair.publicKey)
        let lines = pair.publicKeyPEM.split(separator: "\n")
        #expect(lines.first == "-----BEGIN PUBLIC KEY-----")
        #expect(lines.last == "-----END PUBLIC KEY-----")
        #expect(Data(base64Encoded: lines.dropFirst().dropLast().joined()) == pair.publicKeyDER)
    }

    /// Checks the constant DER prefix against another implementation.
    @Test func opensslReadsThePublicKeyAndVerifiesTheSignature() throws {
        let pair = try EnclaveKeyPair.create(tag: "login", protection: KeychainProtection(.whenUnlockedThisDeviceOnly))
        let program = try OtherProgram()
        try program.write("key.pem", pair.publicKeyPEM)
        try program.write("signature", pair.sign(nonce, prompt: .standard) as Data)
        try program.write("message", nonce)
        try program.run("openssl", "dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "message")
    }
}
