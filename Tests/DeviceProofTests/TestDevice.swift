// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

/// A device with a software TPM, on which the Secure Enclave makes keys and attests them.
final class TestDevice: Sendable {
    let enclave: TPMEnclave
    private let tpm: SoftwareTPM

    private static let authorityKey = Result { () throws(Failure) in try PrivateKey.generate(.p256) }
    /// The authority that the policies of its keys name.
    static let authority = authorityKey.map(\.publicKey.externalRepresentation)
    static let reference = [UInt8](repeating: 0x52, count: 32)

    /// Starts a device.
    ///
    /// - Parameter maker: makes the TPM with certificates; nil for a TPM without one.
    init(_ maker: SwtpmMaker? = nil) throws {
        tpm = try SoftwareTPM { folder in try maker?.makeState(in: folder) }
        let chip = TPMChip(TPMPlace(tpm.path), clock: SystemClock(), random: SystemRandomSource())
        enclave = TPMEnclave(chip, clock: VirtualClock(), allowsVirtual: true)
    }

    /// Makes a key.
    func newKey(password: SecretBytes? = nil) throws -> ModuleKey {
        try enclave.create(
            KeyProperties(
                accessControl: AccessControl(
                    accessibility: .whenUnlockedThisDeviceOnly, constraints: [.privateKeyUsage]), password: password,
                binding: KeyBinding(authority: Self.authority.get(), reference: Self.reference)))
    }

    /// Finishes a begun use of a key with the approval that it needs.
    func finish(_ use: KeyChallenge) throws {
        let subject = try #require(use.subject)
        // The TPM counts the expiry by a clock that tests do not control.
        let text = try ApprovalText(
            nonce: use.nonce, expirySeconds: 3600,
            command: CommandDigest.command(
                number: subject.command, names: [subject.keyName], parameters: subject.parameters),
            reference: Self.reference)
        let signature = try Self.authorityKey.get().signECDSA(DigestAlgorithm.sha256.hash(text.bytes))
        let approval = KeyApproval(expirySeconds: 3600, signature: signature)
        _ = try enclave.finish(use.use, approval: approval, password: nil)
    }

    /// Makes an attestation key, with a certificate that a maker gives the endorsement key.
    func newAttestationKey(
        certifiedBy maker: TestMaker, _ certificate: TestMaker.Options = .init()
    ) throws -> AttestationKey {
        var key = try enclave.newAttestationKey()
        var request = try EnrolmentRequest(decoding: key.request)
        let endorsementKey = try EndorsementKey(decoding: request.endorsementKey)
        request.certificates =
            [try maker.certify(endorsementKey.publicKey, certificate)] + (certificate.issuer.map { [$0.der] } ?? [])
        key.request = try request.encoded()
        return key
    }
}

/// A maker of TPMs with a certificate authority of its own, which `openssl` plays.
final class TestMaker: Sendable {
    private let program: OtherProgram

    /// What a certificate says.
    struct Options {
        var usage = "2.23.133.8.1"
        /// The extensions that say what the key may do, one a line.
        var permissions = "keyUsage = critical,keyAgreement\nbasicConstraints = critical,CA:FALSE"
        var manufacturer: String? = "id:49465800"
        var model = "SLB9670"
        /// The digest that the issuer signs.
        var digest = "sha256"
        /// The certificate below the root that issues this one; nil for the root.
        var issuer: Issuer?
    }

    /// A certificate below the root.
    struct Issuer {
        let der: [UInt8]
    }

    init() throws {
        program = try OtherProgram()
        try program.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            "root.key", "-out", "root.pem", "-subj", "/CN=Maker", "-days", "3650")
    }

    /// The certificate of the authority, in DER.
    func root() throws -> [UInt8] {
        Array(try program.run("openssl", "x509", "-in", "root.pem", "-outform", "der"))
    }

    /// Makes a certificate below the root.
    ///
    /// - Parameter permissions: the extensions that say what its key may do, one a line.
    func makeIssuer(_ permissions: String) throws -> Issuer {
        try program.run(
            "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            "issuer.key", "-out", "issuer.csr", "-subj", "/CN=Issuer")
        try program.write("issuer.extensions", "\(permissions)\n")
        try program.run(
            "openssl", "x509", "-req", "-in", "issuer.csr", "-CA", "root.pem", "-CAkey", "root.key", "-set_serial",
            "8", "-days", "3650", "-extfile", "issuer.extensions", "-out", "issuer.pem")
        let der = try program.run("openssl", "x509", "-in", "issuer.pem", "-outform", "der")
        return Issuer(der: Array(der))
    }

    /// Certifies an endorsement key.
    func certify(_ key: PublicKey, _ options: Options = Options()) throws -> [UInt8] {
        let issuer = options.issuer == nil ? "root" : "issuer"
        try program.write("ek.der", Data(key.subjectPublicKeyInfo))
        try program.run("openssl", "pkey", "-pubin", "-inform", "der", "-in", "ek.der", "-out", "ek.pem")
        // openssl removes the prefix "1." of a name in a section.
        try program.write(
            "extensions",
            """
            \(options.permissions)
            extendedKeyUsage = \(options.usage)
            subjectAltName = critical,dirName:device
            [device]
            \(options.manufacturer.map { "1.2.23.133.2.1 = \($0)" } ?? "")
            1.2.23.133.2.2 = \(options.model)
            1.2.23.133.2.3 = id:0001

            """)
        return Array(
            try program.run(
                "openssl", "x509", "-new", "-\(options.digest)", "-force_pubkey", "ek.pem", "-CA", "\(issuer).pem",
                "-CAkey", "\(issuer).key", "-set_serial", "7", "-subj", "/", "-days", "3650", "-extfile",
                "extensions", "-outform", "der"))
    }
}

/// An hour after the tests begin: `openssl` and `swtpm_setup` take the time of the machine when they make certificates.
let now = Int64(Date().timeIntervalSince1970) + 3600
