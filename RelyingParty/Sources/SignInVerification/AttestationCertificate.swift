// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// The certificate of an attestation key in the format `packed` (WebAuthn Level 3, section 8.2.1).
struct AttestationCertificate {
    /// The object identifier of the extension that has the AAGUID, id-fido-gen-ce-aaguid.
    private static let authenticatorExtension = "1.3.6.1.4.1.45724.1.1.4"

    let key: VerificationKey
    private let certificate: X509Certificate

    /// Reads a certificate with a key of an algorithm; nil for any other.
    init?(_ der: [UInt8], _ algorithm: SignatureAlgorithm) {
        guard let certificate = X509Certificate(der: der), let information = certificate.publicKey else { return nil }
        // A failure of libcrypto refuses the certificate too.
        guard let key = try? VerificationKey(information: information, algorithm) else { return nil }
        (self.certificate, self.key) = (certificate, key)
    }

    /// Whether the certificate has what section 8.2.1 demands: version 3, a subject with a country, an organisation, the
    /// unit `Authenticator Attestation` and a name, no right to issue certificates, and, if it has the extension, the
    /// AAGUID of the authenticator.
    ///
    /// Issuers and dates are not checked: without a list of makers they would say nothing.
    func fulfils(_ authenticator: [UInt8]) -> Bool {
        guard certificate.version == 3, certificate.hasConstraints, !certificate.isAuthority,
            let country = certificate.subject(.country), country.utf8.count == 2,
            certificate.subject(.organization)?.isEmpty == false,
            certificate.subject(.unit).map({ $0.utf8.elementsEqual("Authenticator Attestation".utf8) }) == true,
            certificate.subject(.commonName)?.isEmpty == false
        else { return false }
        switch certificate.extension(Self.authenticatorExtension) {
        case .absent: return true
        // The extension contains a string of 16 bytes, with its header in DER.
        case .value(let value, let isCritical): return !isCritical && value == [0x04, 0x10] + authenticator
        case .repeated: return false
        }
    }
}
