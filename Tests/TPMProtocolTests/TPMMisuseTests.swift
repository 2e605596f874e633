// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol
import TestPromises
import TestSupport
import Testing

/// Who has the blob of a key and a connection to the TPM, but not the authority's key, gets no signature: the TPM itself
/// refuses each attempt, with the code of its specification. Nothing of the driver takes part.
@Suite(.needs(.softwareTPM)) struct TPMMisuseTests {
    private let tpm: RawTPM
    private let root: TPMHandle
    private let authority: PrivateKey
    private let authorityHandle: TPMHandle
    private let key: TPMHandle
    private let keyName: [UInt8]
    private let digest = [UInt8](repeating: 0xa5, count: 32)
    private let reference = [UInt8](repeating: 0x52, count: 32)

    init() throws {
        tpm = try RawTPM()
        root = try tpm.makeStorageRoot()
        authority = try PrivateKey.generate(.p256)
        let area = TPMPublicArea.authority(try #require(TPMPoint(authority.publicKey.externalRepresentation)))
        authorityHandle = try tpm.loadExternal(area)
        let policy = try PolicyDigest().signed(by: area.name(), reference: reference)
        let made = try tpm.create(.enclaveKey(policy: policy.bytes), below: root)
        (key, keyName) = try tpm.load(made, below: root)
    }

    /// What is sent with an approval, and what was signed.
    private struct Approval {
        var nonce: [UInt8]
        var command: [UInt8]
        var reference: [UInt8]
        var seconds: Int32 = 60
        var signature: [UInt8] = []

        var text: [UInt8] {
            var writer = TPMWriter()
            writer.add(nonce)
            writer.add(seconds)
            writer.add(command)
            writer.add(reference)
            return writer.bytes
        }
    }

    /// An approval of the signature of `digest` with these parts.
    private func approval(
        _ nonce: [UInt8], _ digest: [UInt8], reference: [UInt8]? = nil, name: [UInt8]? = nil, seconds: Int32 = 60,
        signer: PrivateKey? = nil
    ) throws -> Approval {
        var approval = Approval(
            nonce: nonce,
            command: try CommandDigest.command(.sign, names: [name ?? keyName], parameters: RawTPM.signing(digest)),
            reference: reference ?? self.reference, seconds: seconds)
        let scalar = (signer ?? authority).externalRepresentation.withBytes { SecretBytes($0.suffix(32)) }
        approval.signature = try #require(PrivateScalar(scalar, curve: .p256))
            .sign(DigestAlgorithm.sha256.hash(approval.text)).copyBytes()
        return approval
    }

    private func present(_ approval: Approval, _ session: TPMHandle, signer: TPMHandle? = nil) throws {
        var parameters = TPMWriter()
        for field in [approval.nonce, approval.command, approval.reference] { try parameters.add(sized: field) }
        parameters.add(approval.seconds)
        parameters.add(.ecdsa)
        parameters.add(.sha256)
        try parameters.add(sized: Array(approval.signature[..<32]))
        try parameters.add(sized: Array(approval.signature[32...]))
        _ = try tpm.send(.policySigned, handles: [signer ?? authorityHandle, session], parameters.bytes)
    }

    /// Signs; returns the nonce of the TPM after it.
    @discardableResult
    private func sign(_ digest: [UInt8], _ session: TPMHandle) throws -> [UInt8] {
        try tpm.send(.sign, handles: [key], RawTPM.signing(digest), [RawTPM.Use(session: session)]).nonce
    }

    private func expect(
        _ code: UInt32, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(throws: RawTPM.Refusal(code: TPMResponseCode(code)), sourceLocation: sourceLocation) { try body() }
    }

    @Test(.promise("tpm.approval")) func approvedDigestIsSignedOnceAndNoOther() throws {
        let (session, nonce) = try tpm.startPolicy()
        expect(0x99d) { try sign(digest, session) }
        let approved = try approval(nonce, digest)
        try present(approved, session)
        expect(0x99d) { try sign([UInt8](repeating: 1, count: 32), session) }
        // A refused command does not spend the approval.
        let next = try sign(digest, session)
        expect(0x99d) { try sign(digest, session) }
        // The same approval again, with its nonce and with the new one.
        expect(0x1cf) { try present(approved, session) }
        var replayed = approved
        replayed.nonce = next
        expect(0x5db) { try present(replayed, session) }
    }

    @Test(.promise("tpm.approval")) func approvalIsNotValidInAnotherSession() throws {
        let (_, nonce) = try tpm.startPolicy()
        let (other, otherNonce) = try tpm.startPolicy()
        var approved = try approval(nonce, digest)
        expect(0x1cf) { try present(approved, other) }
        approved.nonce = otherNonce
        expect(0x5db) { try present(approved, other) }
    }

    @Test(.promise("tpm.approval")) func editedApprovalsAreRefused() throws {
        let (session, nonce) = try tpm.startPolicy()
        let approved = try approval(nonce, digest)
        let edits: [(inout Approval) -> Void] = [
            { $0.reference[0] ^= 1 }, { $0.seconds = 3600 }, { $0.seconds = 0 }, { $0.command = [] },
            { $0.nonce = [] }, { $0.command[0] ^= 1 }, { $0.signature[40] ^= 1 },
        ]
        for edit in edits {
            var edited = approved
            edit(&edited)
            expect(0x5db) { try present(edited, session) }
        }
        let foreign = try approval(nonce, digest, signer: PrivateKey.generate(.p256))
        expect(0x5db) { try present(foreign, session) }
        expect(0x99d) { try sign(digest, session) }
    }

    /// The authority approves for the reference of the current set only; a key of an earlier set has another one.
    @Test(.promise("tpm.approval")) func approvalForAnotherEnrolmentSetSignsNothing() throws {
        let (session, nonce) = try tpm.startPolicy()
        try present(approval(nonce, digest, reference: [UInt8](repeating: 0x53, count: 32)), session)
        expect(0x99d) { try sign(digest, session) }
    }

    /// The digest of the approved command contains the name of the key.
    @Test func approvalForAKeySignsWithNoOtherOfTheSamePolicy() throws {
        // The memory of a TPM has room for three objects.
        try tpm.flush(authorityHandle)
        let area = TPMPublicArea.authority(try #require(TPMPoint(authority.publicKey.externalRepresentation)))
        let policy = try PolicyDigest().signed(by: area.name(), reference: reference)
        let (other, _) = try tpm.load(tpm.create(.enclaveKey(policy: policy.bytes), below: root), below: root)
        try tpm.flush(root)
        let signer = try tpm.loadExternal(area)
        let (session, nonce) = try tpm.startPolicy()
        try present(approval(nonce, digest), session, signer: signer)
        expect(0x99d) {
            _ = try tpm.send(.sign, handles: [other], RawTPM.signing(digest), [RawTPM.Use(session: session)])
        }
        try sign(digest, session)
    }

    // MARK: - Expiry

    @Test func approvalThatExpiresAfterItWasPresentedSignsNothing() throws {
        let (session, nonce) = try tpm.startPolicy()
        try present(approval(nonce, digest, seconds: 5), session)
        try tpm.wait(milliseconds: 5500)
        expect(0x9a3) { try sign(digest, session) }
    }

    /// The time counts from the nonce of the session and not from the approval: a session that was idle takes no approval
    /// of that length any more, `TPM2_PolicyRestart` does not change the nonce, and another session has another one.
    @Test func idleSessionTakesNoNewApproval() throws {
        let (session, nonce) = try tpm.startPolicy()
        try tpm.wait(milliseconds: 1500)
        let late = try approval(nonce, digest, seconds: 1)
        expect(0x4e3) { try present(late, session) }
        // TPM2_PolicyRestart.
        _ = try tpm.send(number: 0x180, handles: [session], [], [])
        expect(0x4e3) { try present(late, session) }
        let (fresh, second) = try tpm.startPolicy()
        try present(approval(second, digest, seconds: 30), fresh)
        try sign(digest, fresh)
    }

    // MARK: - Choices

    /// `TPM2_PolicyOR` with one digest and with nine.
    @Test(arguments: [1, 9]) func choiceOfTooFewOrTooManyBranchesIsRefused(_ count: Int) throws {
        let (session, _) = try tpm.startPolicy()
        let branches = [PolicyDigest](repeating: PolicyDigest(), count: count)
        expect(0x1d5) { _ = try tpm.send(.policyOR, handles: [session], PolicyDigest.choice(of: branches)) }
        #expect(throws: Failure.self) { try PolicyDigest.any(of: branches) }
    }

    /// Eight choices of eight branches each: every branch signs through its own choices only.
    @Test func choicesOfChoicesHoldSixtyFourBranches() throws {
        let area = TPMPublicArea.authority(try #require(TPMPoint(authority.publicKey.externalRepresentation)))
        let references = (0..<64).map { [UInt8](repeating: UInt8($0), count: 32) }
        let branches = try references.map { try PolicyDigest().signed(by: area.name(), reference: $0) }
        let inner = (0..<8).map { Array(branches[8 * $0..<8 * $0 + 8]) }
        let outer = try inner.map { try PolicyDigest.any(of: $0) }
        try tpm.flush(key)
        let (nested, name) = try tpm.load(
            tpm.create(.enclaveKey(policy: PolicyDigest.any(of: outer).bytes), below: root), below: root)
        func choose(_ branches: [PolicyDigest], _ session: TPMHandle) throws {
            _ = try tpm.send(.policyOR, handles: [session], PolicyDigest.choice(of: branches))
        }
        func signNested(_ session: TPMHandle) throws {
            _ = try tpm.send(.sign, handles: [nested], RawTPM.signing(digest), [RawTPM.Use(session: session)])
        }
        for number in [0, 7, 8, 35, 63] {
            let (session, nonce) = try tpm.startPolicy()
            try present(approval(nonce, digest, reference: references[number], name: name), session)
            expect(0x1c4) { try choose(inner[(number / 8 + 1) % 8], session) }
            expect(0x1c4) { try choose(outer, session) }
            try choose(inner[number / 8], session)
            expect(0x99d) { try signNested(session) }
            try choose(outer, session)
            try signNested(session)
            try tpm.flush(session)
        }
    }

    // MARK: - Other commands

    @Test func approvalOfASignatureAllowsNoKeyAgreement() throws {
        let (session, nonce) = try tpm.startPolicy()
        try present(approval(nonce, digest), session)
        var point = TPMWriter()
        try point.add(sized: Array(authority.publicKey.externalRepresentation[1..<33]))
        try point.add(sized: Array(authority.publicKey.externalRepresentation[33...]))
        var parameters = TPMWriter()
        try parameters.add(sized: point.bytes)
        expect(0x99d) {
            _ = try tpm.send(.sharedSecret, handles: [key], parameters.bytes, [RawTPM.Use(session: session)])
        }
    }

    @Test(.promise("tpm.approval")) func keyIsNotUsedByAPasswordNorByAnHMACSession() throws {
        expect(0x12f) { _ = try tpm.send(.sign, handles: [key], RawTPM.signing(digest), [.emptyPassword]) }
        let (session, _) = try tpm.startPolicy(type: .hmac)
        expect(0x12f) { try sign(digest, session) }
    }

    @Test(.promise("tpm.private")) func keyIsNotChangedNorDuplicated() throws {
        var newPassword = TPMWriter()
        try newPassword.add(sized: [1])
        // TPM2_ObjectChangeAuth and TPM2_Duplicate.
        expect(0x124) { _ = try tpm.send(number: 0x150, handles: [key, root], newPassword.bytes, [.emptyPassword]) }
        var duplication = TPMWriter()
        try duplication.add(sized: [])
        duplication.add(TPMAlgorithm.none)
        let (session, _) = try tpm.startPolicy()
        #expect(throws: RawTPM.Refusal.self) {
            _ = try tpm.send(
                number: 0x14b, handles: [key, .none], duplication.bytes, [RawTPM.Use(session: session)])
        }
    }

    @Test(.promise("tpm.private")) func privatePartOfAnotherTPMOrAnEditedOneIsNotLoaded() throws {
        // The memory of a TPM has room for three objects.
        for handle in [key, authorityHandle] { try tpm.flush(handle) }
        let made = try tpm.create(.enclaveKey(policy: [UInt8](repeating: 1, count: 32)), below: root)
        var edited = made
        edited.privatePart[made.privatePart.count - 1] ^= 1
        let other = try RawTPM()
        let otherRoot = try other.makeStorageRoot()
        expect(0x1df) { _ = try tpm.load(edited, below: root) }
        expect(0x1df) { _ = try other.load(made, below: otherRoot) }
    }
}
