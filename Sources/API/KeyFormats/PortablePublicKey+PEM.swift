// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto

extension PortablePublicKey {
    private static let begin = "-----BEGIN PUBLIC KEY-----"
    private static let end = "-----END PUBLIC KEY-----"
    private static let lineLength = 64

    /// Reads a public key in PEM with the label `PUBLIC KEY`.
    ///
    /// Computes in this process; does not block or prompt. Source: RFC 7468, section 3 (strict format) and section 13.
    ///
    /// - Parameter text: the BEGIN line, base64 in lines of 64 characters (only the last may be shorter), and the END
    ///   line. Lines end with LF or CR LF, which may be missing after the END line. No other text may precede or
    ///   follow. The base64 encodes the DER that ``init(der:)`` reads.
    /// - Throws: `wrongLabel` for PEM with another label, for example of a private key; `malformed` for any other input
    ///   that is not a supported public key.
    public init(pem text: String) throws(KeyFormatError) {
        var lines = text.utf8.split(separator: 0x0a, omittingEmptySubsequences: false)
        let last = lines.removeLast()
        lines = lines.map { $0.last == 0x0d ? $0.dropLast() : $0 }
        if !last.isEmpty { lines.append(last) }
        guard let first = lines.first, first.starts(with: "-----BEGIN ".utf8) else {
            throw KeyFormatError(.malformed, "The text does not begin with a PEM boundary.")
        }
        guard first.elementsEqual(Self.begin.utf8) else {
            throw KeyFormatError(.wrongLabel, "The label of the PEM text is not PUBLIC KEY.")
        }
        guard lines.count >= 3, let end = lines.last, end.elementsEqual(Self.end.utf8) else {
            throw KeyFormatError(.malformed, "The PEM text does not end with its END line.")
        }
        let body = lines.dropFirst().dropLast()
        guard body.dropLast().allSatisfy({ $0.count == Self.lineLength }),
            let shortest = body.last, (1...Self.lineLength).contains(shortest.count),
            let der = Base64.standard.decode(Array(body.joined()))
        else { throw KeyFormatError(.malformed, "The PEM text is not base64 in lines of 64 characters.") }
        try self.init(der: der)
    }

    /// The key in PEM with the label `PUBLIC KEY`: base64 of ``der`` in lines of 64 characters.
    ///
    /// Every line, including the last, ends with LF. Source: RFC 7468, section 13.
    public var pem: String {
        var rest = Base64.standard.encode(der)[...]
        var lines = [Self.begin]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(Self.lineLength)))
            rest = rest.dropFirst(Self.lineLength)
        }
        return (lines + [Self.end, ""]).joined(separator: "\n")
    }
}
