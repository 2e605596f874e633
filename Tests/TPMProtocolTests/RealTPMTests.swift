// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol
import TestSupport
import Testing

/// A TPM computes the same names, digests and session keys.
@Suite(.needs(.softwareTPM)) struct RealTPMTests {
    private let tpm: RawTPM

    init() throws { tpm = try RawTPM() }

    /// Creates the storage root key; returns its handle and its public area as the TPM encodes it.
    private func makeStorageRoot() throws -> (handle: TPMHandle, area: [UInt8], name: [UInt8]) {
        var parameters = TPMWriter()
        // No password and no data; the template; no outside information; no selection of PCRs.
        try parameters.add(sized: [0, 0, 0, 0])
        try parameters.add(sized: TPMPublicArea.storageRoot.encoded())
        try parameters.add(sized: [])
        parameters.add(UInt32(0))
        let made = try tpm.send(
            .createPrimary, handles: [.owner], parameters.bytes, [.emptyPassword], returnsHandle: true)
        var reader = TPMReader(made.parameters)
        let area = try reader.sized(limit: 512)
        // Creation data, its digest and ticket are not needed.
        _ = try reader.sized(limit: 512)
        _ = try reader.sized(limit: 64)
        _ = try reader.bytes(6)
        _ = try reader.sized(limit: 64)
        let name = try reader.sized(limit: 64)
        try reader.checkEnd()
        return (try #require(made.handle), area, name)
    }

    /// Starts a session; returns its handle and the nonce of the TPM.
    private func start(
        type: UInt8, key: TPMHandle = .none, nonce: [UInt8], salt: [UInt8] = []
    ) throws -> (TPMHandle, [UInt8]) {
        var parameters = TPMWriter()
        try parameters.add(sized: nonce)
        try parameters.add(sized: salt)
        parameters.add(type)
        // Parameters are encrypted with AES-128-CFB.
        parameters.add(.aes)
        parameters.add(UInt16(128))
        parameters.add(.cfb)
        parameters.add(.sha256)
        let started = try tpm.send(
            .startAuthSession, handles: [key, .none], parameters.bytes, returnsHandle: true)
        var reader = TPMReader(started.parameters)
        return (try #require(started.handle), try reader.sized(limit: 64))
    }

    @Test func storageRootHasTheComputedName() throws {
        let (handle, encoded, name) = try makeStorageRoot()
        let area = try TPMPublicArea(decoding: encoded)
        #expect(try area.encoded() == encoded)
        #expect(try area.name() == name)
        #expect(area.attributes == TPMPublicArea.storageRoot.attributes && area.policy.isEmpty)
        let point = try #require(area.point)
        #expect(PublicKey(point.external, type: .ellipticCurve(.p256)) != nil)
        var reader = TPMReader(try tpm.send(.readPublic, handles: [handle]).parameters)
        #expect(try reader.sized(limit: 512) == encoded)
        #expect(try reader.sized(limit: 64) == name)
    }

    @Test func policyDigestsAreThoseOfATrialSession() throws {
        let (session, _) = try start(type: 3, nonce: [UInt8](repeating: 1, count: 16))
        func digest() throws -> [UInt8] {
            var reader = TPMReader(try tpm.send(.policyGetDigest, handles: [session]).parameters)
            return try reader.sized(limit: 64)
        }
        var expected = PolicyDigest()
        #expect(try digest() == expected.bytes)
        _ = try tpm.send(.policyAuthValue, handles: [session])
        expected = try expected.authorizationValue()
        #expect(try digest() == expected.bytes)
        var command = TPMWriter()
        command.add(TPMCommand.sign.rawValue)
        _ = try tpm.send(.policyCommandCode, handles: [session], command.bytes)
        expected = try expected.command(.sign)
        #expect(try digest() == expected.bytes)
        // The empty secret of the owner's hierarchy, for a reference.
        var secret = TPMWriter()
        for field in [[], [], [7, 7]] as [[UInt8]] { try secret.add(sized: field) }
        secret.add(Int32(0))
        _ = try tpm.send(.policySecret, handles: [.owner, session], secret.bytes, [.emptyPassword])
        expected = try expected.secret(of: TPMName.of(.owner), reference: [7, 7])
        #expect(try digest() == expected.bytes)
        let other = try PolicyDigest().command(.unseal)
        var branches = TPMWriter()
        branches.add(UInt32(2))
        for branch in [expected, other] { try branches.add(sized: branch.bytes) }
        _ = try tpm.send(.policyOR, handles: [session], branches.bytes)
        #expect(try digest() == PolicyDigest.any(of: [expected, other]).bytes)
    }

    @Test func approvalOfASignatureIsAccepted() throws {
        let key = try PrivateKey.generate(.p256)
        let area = TPMPublicArea.authority(try #require(TPMPoint(key.publicKey.externalRepresentation)))
        var load = TPMWriter()
        try load.add(sized: [])
        try load.add(sized: area.encoded())
        load.add(TPMHandle.owner)
        let loaded = try tpm.send(.loadExternal, load.bytes, returnsHandle: true)
        let authority = try #require(loaded.handle)
        var name = TPMReader(loaded.parameters)
        #expect(try name.sized(limit: 64) == area.name())
        let (session, nonce) = try start(type: 1, nonce: [UInt8](repeating: 2, count: 16))
        let text = try ApprovalText(
            nonce: nonce, expirySeconds: 60, command: [UInt8](repeating: 3, count: 32), reference: [9])
        func approve(_ signed: ApprovalText) throws {
            var parameters = TPMWriter()
            for field in [text.nonce, text.command, text.reference] { try parameters.add(sized: field) }
            parameters.add(text.expirySeconds)
            parameters.add(.ecdsa)
            parameters.add(.sha256)
            let signature = try key.signature(of: signed.bytes)
            try parameters.add(sized: signature.r)
            try parameters.add(sized: signature.s)
            _ = try tpm.send(.policySigned, handles: [authority, session], parameters.bytes)
        }
        // A signature of another text.
        let edited = try ApprovalText(
            nonce: nonce, expirySeconds: 61, command: text.command, reference: text.reference)
        do {
            try approve(edited)
            Issue.record("the edited approval was accepted")
        } catch let refusal as RawTPM.Refusal {
            #expect(refusal.code.kind == .signatureWrong, "\(refusal.code)")
        }
        try approve(text)
        var reader = TPMReader(try tpm.send(.policyGetDigest, handles: [session]).parameters)
        #expect(try reader.sized(limit: 64) == PolicyDigest().signed(by: area.name(), reference: [9]).bytes)
    }

    @Test func saltedSessionAuthenticatesAndDecryptsResponses() throws {
        let (root, encoded, _) = try makeStorageRoot()
        let point = try #require(try TPMPublicArea(decoding: encoded).point)
        let salt = try SessionSalt(for: point)
        let first = [UInt8](repeating: 4, count: 16)
        let (session, nonce) = try start(type: 0, key: root, nonce: first, salt: salt.encrypted)
        let key = try SessionKey(salt, tpm: nonce, caller: first)
        let rootName = try TPMPublicArea(decoding: encoded).name()
        let digest = try CommandDigest.command(.readPublic, names: [rootName], parameters: [])
        let next = [UInt8](repeating: 5, count: 16)
        // The session continues and encrypts the response.
        let attributes: UInt8 = 0x41
        func use(_ code: [UInt8]) -> RawTPM.Use {
            RawTPM.Use(session: session, nonce: next, attributes: attributes, code: code)
        }
        let code = try key.code(digest, newer: next, older: nonce, attributes: attributes)
        var wrong = code
        wrong[0] ^= 1
        #expect(throws: RawTPM.Refusal.self) { try tpm.send(.readPublic, handles: [root], [], [use(wrong)]) }
        let response = try tpm.send(.readPublic, handles: [root], [], [use(code)])
        let expected = try key.code(
            CommandDigest.response(to: .readPublic, parameters: response.parameters), newer: response.nonce,
            older: next, attributes: response.attributes)
        #expect(response.code == expected)
        var reader = TPMReader(response.parameters)
        let hidden = try reader.sized(limit: 512)
        #expect(hidden != encoded)
        let shown = try key.apply(.decrypt, to: SecretBytes(hidden), newer: response.nonce, older: next)
        #expect(shown.copyBytes() == encoded)
    }
}

extension PrivateKey {
    /// ECDSA over the SHA-256 digest of a message.
    fileprivate func signature(of message: [UInt8]) throws -> (r: [UInt8], s: [UInt8]) {
        let scalar = externalRepresentation.withBytes { SecretBytes($0.suffix(32)) }
        let signature = try #require(PrivateScalar(scalar, curve: .p256))
            .sign(DigestAlgorithm.sha256.hash(message)).copyBytes()
        return (Array(signature[..<32]), Array(signature[32...]))
    }
}
