// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import LatchkeyModel
import LatchkeySystem

/// A file of certificates: one in DER, or any number in PEM (RFC 7468).
enum CertificateFile {
    private static let fileBytes = 1 << 20

    /// The certificates in DER; they are not parsed.
    static func read(_ path: FilePath) throws(CommandFailure) -> [[UInt8]] {
        let bytes = try Input.whole(path, limit: fileBytes).copyBytes()
        guard bytes.first != 0x30 else { return [bytes] }
        var certificates: [[UInt8]] = []
        var body: [UInt8]?
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            if line.elementsEqual("-----BEGIN CERTIFICATE-----".utf8) {
                body = []
            } else if line.elementsEqual("-----END CERTIFICATE-----".utf8) {
                guard let text = body, let der = Base64.standard.decode(text) else { throw malformed(path) }
                certificates.append(der)
                body = nil
            } else {
                body?.append(contentsOf: line)
            }
        }
        guard !certificates.isEmpty, body == nil else { throw malformed(path) }
        return certificates
    }

    private static func malformed(_ path: FilePath) -> CommandFailure {
        .failure(Failure(.invalidParameter, "\(path) contains no certificates in PEM or DER."))
    }
}
