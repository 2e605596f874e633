// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates

extension X509 {
    /// Whether the extended key usage says that the certificate is one of an endorsement key (`tcg-kp-EKCertificate`,
    /// "TCG EK Credential Profile for TPM Family 2.0", section 3.2.16).
    var isForEndorsement: Bool { extendedKeyUsages.contains("2.23.133.8.1") }

    /// The manufacturer and the model of the TPM in the subject alternative name (the same document, section 3.1.2); nil
    /// unless the certificate names both.
    var device: (manufacturer: String, model: String)? {
        var found: [String: String] = [:]
        for (type, text) in alternativeNameAttributes { found[type, default: ""] += text }
        guard let manufacturer = found["2.23.133.2.1"], let model = found["2.23.133.2.2"] else { return nil }
        return (manufacturer, model)
    }
}
