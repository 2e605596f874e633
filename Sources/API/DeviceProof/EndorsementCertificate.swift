// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import LatchkeyCrypto

extension X509 {
    /// Whether the certificate has the extensions of an endorsement certificate ("TCG EK Credential Profile for TPM Family
    /// 2.0", section 3.2): the extended key usage `tcg-kp-EKCertificate`, no right to issue certificates or lists, and the
    /// usage of an endorsement key, which decrypts (RSA) or agrees on a secret (elliptic curves).
    ///
    /// - Parameter key: the type of the endorsement key.
    func isForEndorsement(of key: KeyType) -> Bool {
        guard extendedKeyUsages.contains("2.23.133.8.1"), let permissions, permissions.isAuthority == false,
            let usages = permissions.usages, usages.isDisjoint(with: [.certificateSigning, .listSigning])
        else { return false }
        return switch key {
        case .rsa: usages.contains(.keyEncipherment)
        case .ellipticCurve: usages.contains(.keyAgreement)
        }
    }

    /// The manufacturer and the model of the TPM in the subject alternative name (the same document, section 3.1.2); nil
    /// unless the certificate names both.
    var device: (manufacturer: String, model: String)? {
        var found: [String: String] = [:]
        for (type, text) in alternativeNameAttributes { found[type, default: ""] += text }
        guard let manufacturer = found["2.23.133.2.1"], let model = found["2.23.133.2.2"] else { return nil }
        return (manufacturer, model)
    }
}
