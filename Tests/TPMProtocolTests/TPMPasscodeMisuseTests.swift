// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol
import TestPromises
import TestSupport
import Testing

/// What a TPM says to each wrong use of a key that demands the passcode: the codes are those of the specification. Nothing
/// of the driver takes part.
@Suite(.needs(.softwareTPM)) struct TPMPasscodeMisuseTests {
    private let tpm: RawTPM
    private let root: TPMHandle
    private let index: TPMIndexArea
    private let indexName: [UInt8]
    private let authority: PrivateKey
    private let point: TPMPoint
    private let digest = [UInt8](repeating: 0xa5, count: 32)
    private let reference = [UInt8](repeating: 0x52, count: 32)
    private static let value = [UInt8](repeating: 0x41, count: 32)
    private static let limit: UInt32 = 5

    init() throws {
        tpm = try RawTPM()
        root = try tpm.makeStorageRoot()
        authority = try PrivateKey.generate(.p256)
        point = try #require(TPMPoint(authority.publicKey.externalRepresentation))
        // Any process may write the counts here: the tests are about the keys.
        let writing = try PolicyDigest().command(.nvWrite)
        var area = TPMIndexArea.passcode(at: TPMHandle(0x0181_4d00), policy: writing.bytes)
        var definition = TPMWriter()
        try definition.add(sized: Self.value)
        try definition.add(sized: area.encoded())
        _ = try tpm.send(.nvDefineSpace, handles: [.owner], definition.bytes, [.emptyPassword])
        let (session, _) = try tpm.startPolicy()
        var code = TPMWriter()
        code.add(TPMCommand.nvWrite.rawValue)
        _ = try tpm.send(.policyCommandCode, handles: [session], code.bytes)
        var counts = TPMWriter()
        try counts.add(sized: [0, 0, 0, 0, 0, 0, 0, UInt8(Self.limit)])
        counts.add(UInt16(0))
        _ = try tpm.send(
            .nvWrite, handles: [area.handle, area.handle], counts.bytes, [RawTPM.Use(session: session)])
        try tpm.flush(session)
        area.attributes.insert(.written)
        (index, indexName) = (area, try area.name())
    }

    // MARK: - Steps

    private func makeKey(
        _ part: PasscodeDemand.Part, needsPassword: Bool = false
    ) throws -> (handle: TPMHandle, name: [UInt8]) {
        let policy = try PolicyDigest.enclaveKey(
            authority: point, reference: reference, passcode: PasscodeDemand(part, verifier: indexName),
            needsPassword: needsPassword)
        return try tpm.load(tpm.create(.enclaveKey(policy: policy.bytes), below: root), below: root)
    }

    private func command(_ key: [UInt8], _ digest: [UInt8]? = nil) throws -> [UInt8] {
        try CommandDigest.command(.sign, names: [key], parameters: RawTPM.signing(digest ?? self.digest))
    }

    /// `TPM2_PolicySecret` with a value of the index.
    private func prove(
        _ session: TPMHandle, _ nonce: [UInt8], _ command: [UInt8], value: [UInt8] = Self.value, seconds: Int32 = 60,
        reference: [UInt8]? = nil
    ) throws {
        var parameters = TPMWriter()
        for field in [nonce, command, reference ?? self.reference] { try parameters.add(sized: field) }
        parameters.add(seconds)
        _ = try tpm.send(
            .policySecret, handles: [index.handle, session], parameters.bytes,
            [RawTPM.Use(session: .password, code: value)])
    }

    /// `TPM2_PolicySigned` with the key of the authority.
    private func approve(_ session: TPMHandle, _ nonce: [UInt8], _ command: [UInt8], seconds: Int32 = 60) throws {
        let text = try ApprovalText(nonce: nonce, expirySeconds: seconds, command: command, reference: reference)
        let scalar = authority.externalRepresentation.withBytes { SecretBytes($0.suffix(32)) }
        let signature = try #require(ApprovalSigner(scalar)).sign(text)
        var parameters = TPMWriter()
        for field in [nonce, command, reference] { try parameters.add(sized: field) }
        parameters.add(seconds)
        parameters.add(.ecdsa)
        parameters.add(.sha256)
        try parameters.add(sized: Array(signature[..<32]))
        try parameters.add(sized: Array(signature[32...]))
        let signer = try tpm.loadExternal(.authority(point))
        defer { try? tpm.flush(signer) }
        _ = try tpm.send(.policySigned, handles: [signer, session], parameters.bytes)
    }

    private func choose(_ session: TPMHandle) throws {
        let branches = try PolicyDigest.keyBranches(
            authority: point, reference: reference, passcode: PasscodeDemand(.either, verifier: indexName))
        _ = try tpm.send(.policyOR, handles: [session], PolicyDigest.choice(of: branches))
    }

    private func sign(_ key: TPMHandle, _ session: TPMHandle, _ digest: [UInt8]? = nil) throws {
        _ = try tpm.send(.sign, handles: [key], RawTPM.signing(digest ?? self.digest), [RawTPM.Use(session: session)])
    }

    private func expect(
        _ code: UInt32, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(throws: RawTPM.Refusal(code: TPMResponseCode(code)), sourceLocation: sourceLocation) { try body() }
    }

    // MARK: - The passcode alone

    @Test func theProofOfThePasscodeSignsWhatItIsForOnce() throws {
        let key = try makeKey(.alone)
        let (session, nonce) = try tpm.startPolicy()
        expect(0x99d) { try sign(key.handle, session) }
        try prove(session, nonce, command(key.name))
        expect(0x99d) { try sign(key.handle, session, [UInt8](repeating: 1, count: 32)) }
        try sign(key.handle, session)
        expect(0x99d) { try sign(key.handle, session) }
    }

    /// latchkey-authd can sign approvals, but it has not seen the passcode.
    @Test(.promise("attacker.authd")) func anApprovalDoesNotReplaceThePasscode() throws {
        for part in [PasscodeDemand.Part.alone, .both] {
            let key = try makeKey(part)
            let (session, nonce) = try tpm.startPolicy()
            try approve(session, nonce, command(key.name))
            expect(0x99d) { try sign(key.handle, session) }
            try tpm.flush(session)
            try tpm.flush(key.handle)
        }
    }

    @Test func wrongValuesAreCountedByTheIndexAloneAndBlockIt() throws {
        let key = try makeKey(.alone)
        let (session, nonce) = try tpm.startPolicy()
        let command = try command(key.name)
        for _ in 0..<Self.limit {
            expect(0x9a2) { try prove(session, nonce, command, value: [UInt8](repeating: 0x42, count: 32)) }
        }
        expect(0x12f) { try prove(session, nonce, command) }
        // TPM_PT_LOCKOUT_COUNTER.
        var property = TPMWriter()
        for number in [6, 0x20e, 1] as [UInt32] { property.add(number) }
        #expect(try tpm.send(.getCapability, property.bytes).parameters.suffix(4) == [0, 0, 0, 0])
    }

    @Test func theProofForAnotherReferenceOrSessionSignsNothing() throws {
        let key = try makeKey(.alone)
        let (session, nonce) = try tpm.startPolicy()
        try prove(session, nonce, command(key.name), reference: [UInt8](repeating: 0x53, count: 32))
        expect(0x99d) { try sign(key.handle, session) }
        let (other, _) = try tpm.startPolicy()
        expect(0x1cf) { try prove(other, nonce, command(key.name)) }
    }

    @Test func aPolicySessionDoesNotAuthorizeTheIndex() throws {
        let (session, nonce) = try tpm.startPolicy()
        let (other, _) = try tpm.startPolicy()
        var parameters = TPMWriter()
        for field in [nonce, [], []] { try parameters.add(sized: field) }
        parameters.add(Int32(60))
        expect(0x989) {
            _ = try tpm.send(
                .policySecret, handles: [index.handle, session], parameters.bytes, [RawTPM.Use(session: other)])
        }
    }

    // MARK: - One of both, and both

    @Test func eitherBranchSignsAfterTheChoiceOnly() throws {
        let key = try makeKey(.either)
        for byPasscode in [false, true] {
            let (session, nonce) = try tpm.startPolicy()
            expect(0x1c4) { try choose(session) }
            if byPasscode {
                try prove(session, nonce, command(key.name))
            } else {
                try approve(session, nonce, command(key.name))
            }
            expect(0x99d) { try sign(key.handle, session) }
            try choose(session)
            try sign(key.handle, session)
            try tpm.flush(session)
        }
        // A branch that is not one of the key's.
        let (session, nonce) = try tpm.startPolicy()
        try prove(session, nonce, command(key.name), reference: [])
        expect(0x1c4) { try choose(session) }
    }

    @Test func bothProofsSignInTheirOrderOnly() throws {
        let key = try makeKey(.both)
        let (session, nonce) = try tpm.startPolicy()
        try prove(session, nonce, command(key.name))
        expect(0x99d) { try sign(key.handle, session) }
        try approve(session, nonce, command(key.name))
        try sign(key.handle, session)
        let (turned, second) = try tpm.startPolicy()
        try approve(turned, second, command(key.name))
        try prove(turned, second, command(key.name))
        expect(0x99d) { try sign(key.handle, turned) }
    }

    // MARK: - The application password

    @Test func thePasswordComesAfterTheChoice() throws {
        let key = try makeKey(.either, needsPassword: true)
        let (session, nonce) = try tpm.startPolicy()
        try prove(session, nonce, command(key.name))
        _ = try tpm.send(.policyAuthValue, handles: [session])
        expect(0x1c4) { try choose(session) }
        try tpm.flush(session)
        let (ordered, second) = try tpm.startPolicy()
        try prove(ordered, second, command(key.name))
        try choose(ordered)
        expect(0x99d) { try sign(key.handle, ordered) }
        _ = try tpm.send(.policyAuthValue, handles: [ordered])
        // A session with the code of a wrong password.
        expect(0x9a2) {
            _ = try tpm.send(
                .sign, handles: [key.handle], RawTPM.signing(digest),
                [
                    RawTPM.Use(
                        session: ordered, nonce: [UInt8](repeating: 3, count: 16),
                        code: [UInt8](repeating: 9, count: 32))
                ])
        }
    }

    // MARK: - Expiry

    @Test func proofsThatAreTooOldAreRefusedWhenTheyArriveAndWhenTheyAreUsed() throws {
        let (alone, both) = (try makeKey(.alone), try makeKey(.both))
        let (used, usedNonce) = try tpm.startPolicy()
        let (late, lateNonce) = try tpm.startPolicy()
        try prove(used, usedNonce, command(alone.name), seconds: 5)
        try tpm.wait(milliseconds: 5500)
        expect(0x9a3) { try sign(alone.handle, used) }
        expect(0x4e3) { try prove(late, lateNonce, command(alone.name), seconds: 5) }
        // Room for the key of the authority.
        try tpm.flush(alone.handle)
        expect(0x4e3) { try approve(late, lateNonce, command(both.name), seconds: 5) }
    }
}
