// SPDX-License-Identifier: Apache-2.0

import DeviceProof
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import TPMProtocol
import TestPromises
import TestSupport
import Testing

/// A device enrols with a relying party only if its maker certified it and it has the attestation key: checks 1 and 2.
@Suite(.needs(.softwareTPM)) struct EnrolmentTests {
    private let maker: TestMaker
    private let device: TestDevice
    private let verifier: Verifier

    init() throws {
        (maker, device) = (try TestMaker(), try TestDevice())
        verifier = try Verifier(roots: [maker.root()])
    }

    private func enroll(_ key: AttestationKey) throws -> EnrolledDevice {
        let pending = try verifier.begin(key.request, at: now)
        return try pending.finish(device.enclave.answer(pending.challenge, by: key.blob))
    }

    /// Changes one part of a request.
    private func changed(
        _ key: AttestationKey, _ change: (inout EnrolmentRequest) throws -> Void
    ) throws -> [UInt8] {
        var request = try EnrolmentRequest(decoding: key.request)
        try change(&request)
        return try request.encoded()
    }

    private func expectRefusal(
        _ code: DeviceProofError.Code, _ request: [UInt8], at time: Int64 = now,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: DeviceProofError.self, sourceLocation: sourceLocation) {
            try verifier.begin(request, at: time)
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
    }

    @Test func aDeviceWithACertificateOfItsMakerEnrols() throws {
        let enrolled = try enroll(device.newAttestationKey(certifiedBy: maker))
        #expect(enrolled.kind == .hardware(manufacturer: "id:49465800", model: "SLB9670"))
    }

    @Test(.needs(.softwareTPMMaker)) func aSoftwareTPMWithItsOwnCertificateEnrolsAsVirtual() throws {
        let swtpm = try SwtpmMaker()
        let device = try TestDevice(swtpm)
        let (root, issuer) = try swtpm.certificates()
        let key = try device.enclave.newAttestationKey()
        let request = try EnrolmentRequest(decoding: key.request)
        #expect(try EndorsementKey(decoding: request.endorsementKey).template == .rsa2048)
        expectRefusal(.untrustedChain, key.request)
        for verifier in [
            try Verifier(roots: [root], intermediates: [issuer]), try Verifier(roots: [issuer]),
        ] {
            let pending = try verifier.begin(key.request, at: now)
            let enrolled = try pending.finish(device.enclave.answer(pending.challenge, by: key.blob))
            #expect(enrolled.kind == .virtual)
        }
    }

    @Test(.promise("proof.device")) func theNameOfSwtpmMakesADeviceVirtualWhateverItsMakerIs() throws {
        for options in [
            TestMaker.Options(manufacturer: "id:00001014"), TestMaker.Options(model: "swtpm"),
        ] {
            #expect(try enroll(device.newAttestationKey(certifiedBy: maker, options)).kind == .virtual)
        }
    }

    // MARK: - Check 1: the endorsement key

    @Test(.promise("proof.device")) func aCertificateOfAnotherRootIsRefused() throws {
        expectRefusal(.untrustedChain, try device.newAttestationKey(certifiedBy: TestMaker()).request)
    }

    @Test func aCertificateThatIsNotValidAtTheTimeIsRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker)
        _ = try verifier.begin(key.request, at: now)
        for time in [now - 86_400, now + 20 * 365 * 86_400] { expectRefusal(.untrustedChain, key.request, at: time) }
    }

    @Test func aChainThatTheDeviceSendsIsAcceptedIfItsIssuersAreAuthorities() throws {
        let (authority, signing) = ("basicConstraints = critical,CA:TRUE", "keyUsage = critical,keyCertSign")
        let issuer = try maker.makeIssuer("\(authority)\n\(signing)")
        _ = try verifier.begin(device.newAttestationKey(certifiedBy: maker, .init(issuer: issuer)).request, at: now)
        for permissions in [
            authority, signing, "\(authority)\nkeyUsage = critical,digitalSignature",
            "basicConstraints = critical,CA:FALSE\n\(signing)", "basicConstraints = critical,CA:FALSE",
        ] {
            let other = try maker.makeIssuer(permissions)
            expectRefusal(
                .untrustedChain, try device.newAttestationKey(certifiedBy: maker, .init(issuer: other)).request)
        }
    }

    /// "TCG EK Credential Profile", section 3.2: the endorsement key of this device is on P-256.
    @Test(arguments: [
        "basicConstraints = critical,CA:TRUE\nkeyUsage = critical,keyAgreement", "keyUsage = critical,keyAgreement",
        "basicConstraints = critical,CA:FALSE", "basicConstraints = critical,CA:FALSE\nkeyUsage = keyEncipherment",
        "basicConstraints = critical,CA:FALSE\nkeyUsage = keyAgreement,keyCertSign",
        "basicConstraints = critical,CA:FALSE\nkeyUsage = keyAgreement,cRLSign",
        "basicConstraints = critical,CA:FALSE\nkeyUsage = digitalSignature",
    ])
    func aCertificateWhoseKeyMayDoMoreOrOthersIsRefused(_ permissions: String) throws {
        let key = try device.newAttestationKey(certifiedBy: maker, .init(permissions: permissions))
        expectRefusal(.notAnEndorsementCertificate, key.request)
    }

    @Test func aWeakSignatureInTheChainIsRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker, .init(digest: "sha1"))
        expectRefusal(.untrustedChain, key.request)
    }

    @Test func aCertificateThatIsNotDERIsAnErrorOfTheCaller() throws {
        let root = try maker.root()
        for wrong in [[], Array(root.dropLast()), root + [0]] {
            for verifier in [
                { try Verifier(roots: [wrong]) }, { try Verifier(roots: [root], intermediates: [wrong]) },
            ] {
                #expect(#expect(throws: DeviceProofError.self) { try verifier() }?.code == .invalidParameter)
            }
        }
    }

    @Test func aCertificateForAnotherPurposeIsRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker, .init(usage: "serverAuth"))
        expectRefusal(.notAnEndorsementCertificate, key.request)
    }

    @Test func aCertificateWithoutTheNameOfADeviceIsRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker, .init(manufacturer: nil))
        expectRefusal(.notAnEndorsementCertificate, key.request)
    }

    @Test func aCertificateOfAnotherKeyIsRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker)
        let other = try PrivateKey.generate(.p256).publicKey
        expectRefusal(
            .otherEndorsementKey, try changed(key) { $0.certificates = [try maker.certify(other)] })
    }

    @Test func aDeviceWithoutACertificateEnrolsOnlyIfItsKeyIsKnown() throws {
        let key = try device.enclave.newAttestationKey()
        expectRefusal(.unknownEndorsementKey, key.request)
        let name = try EndorsementKey(decoding: EnrolmentRequest(decoding: key.request).endorsementKey).name()
        let verifier = try Verifier(roots: [], knownEndorsementKeys: [name: .virtual])
        let pending = try verifier.begin(key.request, at: now)
        let enrolled = try pending.finish(device.enclave.answer(pending.challenge, by: key.blob))
        #expect(enrolled.kind == .virtual && enrolled.endorsementKeyName == name)
    }

    @Test func anEndorsementKeyOfAnotherFormIsRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker)
        expectRefusal(.unsupportedEndorsementKey, try changed(key) { $0.endorsementKey[7] ^= 0x40 })
        expectRefusal(
            .unsupportedEndorsementKey,
            try changed(key) { $0.endorsementKey = try TPMPublicArea.storageRoot.encoded() })
    }

    @Test func requestsThatDoNotFollowTheFormatAreRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker)
        expectRefusal(.malformed, key.request + [0])
        expectRefusal(.malformed, [2] + key.request.dropFirst())
        expectRefusal(.malformed, try changed(key) { $0.certificates = [[1, 2, 3]] })
        for count in 0..<key.request.count { expectRefusal(.malformed, Array(key.request.prefix(count))) }
    }

    // MARK: - Check 2: the attestation key

    @Test func anAttestationKeyWithOtherAttributesIsRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker)
        // fixedTPM, fixedParent, sensitiveDataOrigin, restricted, decrypt.
        for bit in [1, 4, 5, 16, 17] {
            let request = try changed(key) { request in
                request.attestationKey[7 - bit / 8] ^= 1 << UInt8(bit % 8)
            }
            expectRefusal(.unsuitableAttestationKey, request)
        }
    }

    @Test func anotherSecretIsRefused() throws {
        let key = try device.newAttestationKey(certifiedBy: maker)
        let pending = try verifier.begin(key.request, at: now)
        let answer = try device.enclave.answer(pending.challenge, by: key.blob)
        var changed = answer
        changed[answer.count - 1] ^= 1
        for (code, wrong) in [
            (DeviceProofError.Code.wrongSecret, changed), (.malformed, answer + [0]),
            (.wrongSecret, try EnrolmentAnswer(secret: []).encoded()),
        ] {
            #expect(#expect(throws: DeviceProofError.self) { try pending.finish(wrong) }?.code == code)
        }
        // The challenge of an earlier enrolment has another secret.
        let later = try verifier.begin(key.request, at: now)
        #expect(#expect(throws: DeviceProofError.self) { try later.finish(answer) }?.code == .wrongSecret)
        _ = try pending.finish(answer)
    }

    @Test(.promise("proof.device")) func theTPMAnswersNoChallengeForAnotherKeyOrDevice() throws {
        let key = try device.newAttestationKey(certifiedBy: maker)
        let other = try device.enclave.newAttestationKey()
        let challenge = try verifier.begin(key.request, at: now).challenge
        #expect(throws: Failure(.itemAuthenticationFailed)) { try device.enclave.answer(challenge, by: other.blob) }
        let foreign = try TestDevice()
        let foreignKey = try foreign.enclave.newAttestationKey()
        #expect(throws: Failure(.itemAuthenticationFailed)) {
            try foreign.enclave.answer(challenge, by: foreignKey.blob)
        }
        #expect(throws: Failure(.tpmReplaced)) { try foreign.enclave.answer(challenge, by: key.blob) }
        #expect(throws: Failure(.invalidParameter)) { try device.enclave.answer([2, 2], by: key.blob) }
        #expect(throws: Failure(.invalidParameter)) { try device.enclave.answer(challenge, by: SecretBytes([4])) }
        // Nothing that was refused is left in the memory of the TPM.
        for _ in 0..<4 { _ = try device.enclave.answer(challenge, by: key.blob) }
    }

    @Test func eachRelyingPartyGetsAnAttestationKeyOfItsOwn() throws {
        let keys = try (0..<2).map { _ in try device.newAttestationKey(certifiedBy: maker) }
        let enrolled = try keys.map(enroll)
        #expect(enrolled[0].attestationKey != enrolled[1].attestationKey)
        #expect(enrolled[0].endorsementKeyName == enrolled[1].endorsementKeyName)
    }
}
