// SPDX-License-Identifier: Apache-2.0

/// A public key on the curve P-256 (secp256r1), the only kind that is accepted.
package struct P256PublicKey: Equatable, Sendable {
    /// The point without compression: `04 ‖ x ‖ y`, 65 bytes (SEC 1, section 2.3.3).
    package let point: [UInt8]

    /// The identifier of the key: the SHA-256 digest of the point, 32 bytes.
    package let identifier: [UInt8]

    /// Everything before the point in a SubjectPublicKeyInfo (RFC 5480) of such a key. Its encoding in DER is unique, so
    /// another curve, another algorithm, parameters of a curve and the point at infinity all differ from it.
    static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// The base point of P-256 (SEC 2, section 2.4.2).
    package static let basePoint: [UInt8] = [
        0x04, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77,
        0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42,
        0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b,
        0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
    ]

    /// Reads a point; nil unless it is on the curve and has exactly the form of ``point``.
    ///
    /// - Parameter x963: the bytes, 65.
    package init?(x963: [UInt8]) throws(CryptoFailure) {
        guard x963.count == 65, x963[0] == 4, LibCrypto.isPoint(x963) else { return nil }
        point = x963
        identifier = try LibCrypto.sha256(x963)
    }

    /// A key that was registered. Its point is not checked here: ``isValid(_:for:)`` reads it again and refuses one that
    /// is not on the curve.
    ///
    /// - Parameters:
    ///   - point: the stored point, 65 bytes.
    ///   - identifier: the identifier under which it is stored.
    package init(registered point: [UInt8], identifier: [UInt8]) {
        self.point = point
        self.identifier = identifier
    }

    /// Reads a SubjectPublicKeyInfo in DER; nil if it is anything else, or has trailing bytes.
    package init?(der: [UInt8]) throws(CryptoFailure) {
        guard der.starts(with: Self.prefix) else { return nil }
        try self.init(x963: Array(der.dropFirst(Self.prefix.count)))
    }

    /// Reads PEM with the label `PUBLIC KEY` (RFC 7468): lines of 64 characters or fewer that end with LF or CR LF, and
    /// nothing before or after.
    package init?(pem: String) throws(CryptoFailure) {
        var lines = pem.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        guard lines.count >= 3, lines.count <= 8, lines.allSatisfy({ $0.count <= 64 }),
            lines.removeFirst().elementsEqual("-----BEGIN PUBLIC KEY-----".utf8),
            lines.removeLast().elementsEqual("-----END PUBLIC KEY-----".utf8),
            let der = StrictBase64.standard.decode(Array(lines.joined()))
        else { return nil }
        try self.init(der: der)
    }

    /// Whether an ECDSA signature is valid for the SHA-256 digest of a message.
    ///
    /// - Parameters:
    ///   - signature: the signature in DER, as `openssl dgst -sign` writes it. `r ‖ s` (IEEE P1363) is refused.
    ///   - message: the bytes that were signed.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        // 72 bytes are the longest signature in DER: two numbers of 33 bytes and three headers of two bytes.
        signature.count <= 72 && LibCrypto.verify(signature, message, point)
    }
}
