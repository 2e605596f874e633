// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys

extension PortablePublicKey {
    private static let begin = "-----BEGIN PUBLIC KEY-----"
    private static let end = "-----END PUBLIC KEY-----"
    private static let lineLength = 64

    /// Reads PEM with the label `PUBLIC KEY` (RFC 7468, sections 3 and 13).
    ///
    /// - Parameter text: the strict form: both boundaries, lines of 64 characters of base64 of which only the last is
    ///   shorter, each ended by LF or CR LF, the very last line perhaps not. Nothing stands before or after it.
    /// - Throws: `wrongLabel` for PEM of something else, `malformed` otherwise.
    public init(pem text: String) throws(KeyFormatError) {
        var lines = text.utf8.split(separator: 0x0a, omittingEmptySubsequences: false)
        let last = lines.removeLast()
        lines = lines.map { $0.last == 0x0d ? $0.dropLast() : $0 }
        if !last.isEmpty { lines.append(last) }
        guard let first = lines.first, first.starts(with: "-----BEGIN ".utf8) else {
            throw KeyFormatError(.malformed, "The text does not begin like PEM.")
        }
        guard first.elementsEqual(Self.begin.utf8) else {
            throw KeyFormatError(.wrongLabel, "The PEM text holds something else than a public key.")
        }
        guard lines.count >= 3, let end = lines.last, end.elementsEqual(Self.end.utf8) else {
            throw KeyFormatError(.malformed, "The PEM text has no end, or something follows it.")
        }
        let body = lines.dropFirst().dropLast()
        guard body.dropLast().allSatisfy({ $0.count == Self.lineLength }),
            let shortest = body.last, (1...Self.lineLength).contains(shortest.count),
            let der = Base64.standard.decode(Array(body.joined()))
        else { throw KeyFormatError(.malformed, "The PEM text is not base64 in lines of 64 characters.") }
        try self.init(der: der)
    }

    /// Its PEM with the label `PUBLIC KEY` (RFC 7468, section 13): lines of 64 characters, each ended by LF.
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
