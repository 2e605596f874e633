// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyAttestation
internal import RelyingPartyCrypto

/// The certificates of the makers whose TPMs are accepted.
enum EndorsementRoots {
    /// About a thousand certificates.
    private static let limit = 2 << 20

    /// The verifier of proofs of TPMs; nil if none is configured.
    static func verifier(_ configuration: Configuration) throws(Usage) -> TPMAttestation? {
        guard let path = configuration.endorsementRoots else { return nil }
        let text = String(decoding: try Files.read(path, limit: limit), as: UTF8.self)
        guard let roots = certificates(text), !roots.isEmpty else {
            throw Usage("\(path) does not contain certificates in PEM, or one of them is damaged")
        }
        do throws(AttestationRefusal) {
            return try TPMAttestation(roots: roots, relyingPartyID: configuration.relyingPartyID)
        } catch {
            throw Usage("\(path) contains a certificate that cannot be read")
        }
    }

    /// Reads certificates in PEM (RFC 7468, section 5). Text between them is ignored, as section 2 permits; nil for one that
    /// is damaged.
    private static func certificates(_ text: String) -> [[UInt8]]? {
        var (certificates, body): ([[UInt8]], String?) = ([], nil)
        for line in text.split(whereSeparator: \.isNewline) {
            switch line {
            case "-----BEGIN CERTIFICATE-----":
                guard body == nil else { return nil }
                body = ""
            case "-----END CERTIFICATE-----":
                guard let text = body, let der = StrictBase64.standard.decode(text.utf8) else { return nil }
                certificates.append(der)
                body = nil
            default: body?.append(contentsOf: line)
            }
        }
        return body == nil ? certificates : nil
    }
}
