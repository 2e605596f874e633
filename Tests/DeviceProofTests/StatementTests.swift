// SPDX-License-Identifier: Apache-2.0

import DeviceProof
import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol
import TestPromises
import TestSupport
import Testing

/// Each check of a proof fails alone. An attestation key whose private part is known signs statements that no TPM would
/// make.
@Suite struct StatementTests {
    private let signer: PrivateKey
    private let enrolled: EnrolledDevice
    private let verifier: Verifier
    private let key: PublicKey
    private let authority: TPMPoint
    private let reference = [UInt8](repeating: 0x52, count: 32)
    private let nonce = [UInt8](repeating: 9, count: 32)

    init() throws {
        signer = try PrivateKey.generate(.p256)
        var area = TPMPublicArea.attestationKey
        area.point = TPMPoint(signer.publicKey.externalRepresentation)
        enrolled = EnrolledDevice(attestationKey: try area.encoded(), kind: .virtual)
        verifier = try Verifier(roots: [])
        key = try PrivateKey.generate(.p256).publicKey
        authority = try #require(TPMPoint(PrivateKey.generate(.p256).publicKey.externalRepresentation))
    }

    /// The parts of a proof, which a test changes before the proof is signed.
    private struct Parts {
        var area: TPMPublicArea
        var magic: UInt32 = 0xff54_4347
        var type: UInt16 = 0x801a
        var nonce: [UInt8]
        /// nil for the name of `area`.
        var name: [UInt8]?
        /// What follows the statement, under the signature.
        var rest: [UInt8] = []
        var authority: [UInt8]
        var reference: [UInt8]
        var passcode: PasscodeDemand?
        var needsPassword = false
    }

    private func proof(_ change: (inout Parts) throws -> Void = { _ in }) throws -> KeyProof {
        var area = TPMPublicArea.enclaveKey(
            policy: try PolicyDigest.enclaveKey(authority: authority, reference: reference, needsPassword: false).bytes)
        area.point = TPMPoint(key.externalRepresentation)
        var parts = Parts(area: area, nonce: nonce, authority: authority.external, reference: reference)
        try change(&parts)
        var statement = TPMWriter()
        statement.add(parts.magic)
        statement.add(parts.type)
        try statement.add(sized: [0, 0x0b] + [UInt8](repeating: 1, count: 32))
        try statement.add(sized: parts.nonce)
        statement.add([UInt8](repeating: 0, count: 25))
        try statement.add(sized: parts.name ?? parts.area.name())
        try statement.add(sized: [UInt8](repeating: 2, count: 32))
        statement.add(parts.rest)
        return KeyProof(
            key: try parts.area.encoded(), statement: statement.bytes,
            signature: try signer.signECDSA(DigestAlgorithm.sha256.hash(statement.bytes)), authority: parts.authority,
            reference: parts.reference, passcode: parts.passcode, needsPassword: parts.needsPassword)
    }

    private func verify(_ proof: [UInt8]) throws(DeviceProofError) -> ProvenKey {
        try verifier.verify(proof, of: key.externalRepresentation, nonce: nonce, by: enrolled)
    }

    private func expectRefusal(
        _ code: DeviceProofError.Code, _ proof: KeyProof, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: DeviceProofError.self, sourceLocation: sourceLocation) {
            try verify(proof.encoded())
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
    }

    @Test func theUnchangedProofIsAccepted() throws {
        let proven = try verify(proof().encoded())
        #expect(proven.publicKey == key.externalRepresentation && proven.keyCannotLeaveDevice == .virtual)
        #expect(proven.userVerificationClaimed.passcode == .decidedByAuthority)
    }

    // MARK: - Check 3: the signature

    @Test func aSignatureThatDoesNotCoverAllBytesIsRefused() throws {
        for position in try proof().statement.indices {
            var changed = try proof()
            changed.statement[position] ^= 1
            expectRefusal(.wrongSignature, changed)
        }
        var longer = try proof()
        longer.statement.append(0)
        expectRefusal(.wrongSignature, longer)
        var changed = try proof()
        changed.signature = [UInt8](repeating: 0, count: 64)
        expectRefusal(.wrongSignature, changed)
    }

    @Test func aSignatureOfAKeyThatSignsAnythingIsRefused() throws {
        var area = TPMPublicArea.enclaveKey(policy: [])
        area.point = TPMPoint(signer.publicKey.externalRepresentation)
        let unrestricted = EnrolledDevice(attestationKey: try area.encoded(), kind: .virtual)
        let proof = try proof().encoded()
        let error = #expect(throws: DeviceProofError.self) {
            try verifier.verify(proof, of: key.externalRepresentation, nonce: nonce, by: unrestricted)
        }
        #expect(error?.code == .unsuitableAttestationKey)
    }

    // MARK: - Check 4: the statement

    @Test func statementsThatAreNotAboutACreationAreRefused() throws {
        expectRefusal(.notACreationStatement, try proof { $0.magic = 0xff54_4346 })
        // TPM_ST_ATTEST_CERTIFY.
        expectRefusal(.notACreationStatement, try proof { $0.type = 0x8017 })
    }

    @Test(.promise("proof.device")) func aSignedStatementWithBytesBehindItIsRefused() throws {
        expectRefusal(.notACreationStatement, try proof { $0.rest = [0] })
    }

    @Test func anotherNonceIsRefused() throws {
        expectRefusal(.wrongNonce, try proof { $0.nonce = [UInt8](repeating: 8, count: 32) })
        expectRefusal(.wrongNonce, try proof { $0.nonce = Array(nonce.dropLast()) })
        expectRefusal(.wrongNonce, try proof { $0.nonce = [] })
    }

    @Test func aNonceOfAnotherLengthIsAnErrorOfTheCaller() throws {
        for count in [0, 15, 65] {
            let nonce = [UInt8](repeating: 9, count: count)
            let proof = try proof { $0.nonce = Array(nonce.prefix(64)) }.encoded()
            let error = #expect(throws: DeviceProofError.self) {
                try verifier.verify(proof, of: key.externalRepresentation, nonce: nonce, by: enrolled)
            }
            #expect(error?.code == .invalidParameter)
        }
    }

    // MARK: - Check 5: the name

    @Test func aStatementAboutAnotherKeyIsRefused() throws {
        var other = TPMPublicArea.enclaveKey(policy: [])
        other.point = authority
        expectRefusal(.otherKeyName, try proof { $0.name = try other.name() })
        expectRefusal(.otherKeyName, try proof { $0.name = [] })
    }

    // MARK: - Check 6: the key

    /// fixedTPM, stClear, fixedParent, sensitiveDataOrigin, userWithAuth, adminWithPolicy, noDA,
    /// encryptedDuplication, decrypt, sign.
    @Test(.promise("proof.device"), arguments: [1, 2, 4, 5, 6, 7, 10, 11, 17, 18])
    func aKeyWithOtherAttributesIsRefused(_ bit: Int) throws {
        expectRefusal(
            .unsuitableKey,
            try proof { $0.area.attributes.formSymmetricDifference(TPMObjectAttributes(rawValue: 1 << UInt32(bit))) })
    }

    @Test func aRestrictedKeyIsRefused() throws {
        expectRefusal(.unsuitableKey, try proof { $0.area.attributes.insert(.restricted) })
    }

    @Test func aKeyThatIsNotTheRegisteredOneIsRefused() throws {
        expectRefusal(.otherPublicKey, try proof { $0.area.point = authority })
    }

    @Test func aPolicyThatIsNotTheDescribedOneIsRefused() throws {
        expectRefusal(.otherPolicy, try proof { $0.authority = key.externalRepresentation })
        expectRefusal(.otherPolicy, try proof { $0.reference[0] ^= 1 })
        expectRefusal(.otherPolicy, try proof { $0.needsPassword = true })
        expectRefusal(.otherPolicy, try proof { $0.area.policy = [] })
        expectRefusal(.malformed, try proof { $0.authority[0] = 2 })
    }

    @Test(arguments: PasscodeDemand.Part.allCases, [false, true])
    func theDemandOfThePasscodeIsReportedAndPartOfThePolicy(
        _ part: PasscodeDemand.Part, _ needsPassword: Bool
    ) throws {
        let demand = PasscodeDemand(part, verifier: [0, 0x0b] + [UInt8](repeating: 4, count: 32))
        func proof(_ change: (inout Parts) throws -> Void = { _ in }) throws -> KeyProof {
            try self.proof { parts in
                (parts.passcode, parts.needsPassword) = (demand, needsPassword)
                parts.area.policy =
                    try PolicyDigest.enclaveKey(
                        authority: authority, reference: reference, passcode: demand, needsPassword: needsPassword
                    ).bytes
                try change(&parts)
            }
        }
        let claim = try verify(proof().encoded()).userVerificationClaimed
        switch part {
        case .alone: #expect(claim.passcode == .required && claim.authority.isEmpty)
        case .either: #expect(claim.passcode == .insteadOfApproval && claim.authority == authority.external)
        case .both: #expect(claim.passcode == .besidesApproval && claim.authority == authority.external)
        }
        #expect(claim.requiresApplicationPassword == needsPassword && claim.reference == reference)
        expectRefusal(.otherPolicy, try proof { $0.passcode = nil })
        expectRefusal(
            .otherPolicy,
            try proof { $0.passcode = PasscodeDemand(part, verifier: [0, 0x0b] + [UInt8](repeating: 5, count: 32)) })
        for other in PasscodeDemand.Part.allCases where other != part {
            expectRefusal(.otherPolicy, try proof { $0.passcode = PasscodeDemand(other, verifier: demand.verifier) })
        }
        var longer = try proof().encoded()
        longer.append(0)
        #expect(throws: DeviceProofError.self) { try verify(longer) }
    }

    // MARK: - Bytes

    @Test func truncatedExtendedAndChangedProofsAreRefused() throws {
        let bytes = try proof().encoded()
        for count in bytes.indices {
            let error = #expect(throws: DeviceProofError.self) { try verify(Array(bytes.prefix(count))) }
            #expect(error?.code == .malformed)
        }
        #expect(throws: DeviceProofError.self) { try verify(bytes + [0]) }
        for position in bytes.indices {
            var changed = bytes
            changed[position] ^= 1
            #expect(throws: DeviceProofError.self) { try verify(changed) }
        }
    }

    @Test func randomBytesAreRefusedWithoutATrap() throws {
        var generator = SeededGenerator(seed: 41)
        let valid = try proof().encoded()
        for _ in 0..<4000 {
            var bytes = (0..<generator.next(below: 400)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            if bytes.count >= 2 { (bytes[0], bytes[1]) = (1, UInt8(1 + generator.next(below: 4))) }
            #expect(throws: DeviceProofError.self) { try verify(bytes) }
            #expect(throws: DeviceProofError.self) { try verifier.begin(bytes, at: 0) }
            // A valid beginning, then other bytes.
            let mixed = valid.prefix(generator.next(below: valid.count)) + bytes
            #expect(throws: DeviceProofError.self) { try verify(Array(mixed)) }
        }
    }
}
