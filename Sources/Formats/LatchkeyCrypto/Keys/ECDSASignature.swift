// SPDX-License-Identifier: Apache-2.0

/// Converts between the two encodings of an ECDSA signature.
///
/// The raw encoding is r ‖ s, both big-endian and as wide as a coordinate (RFC 4754, section 7). The DER encoding is a
/// SEQUENCE of both (ANSI X9.62; RFC 3279, section 2.2.3).
package enum ECDSASignature {
    /// Converts r ‖ s to DER; nil unless `raw` is exactly twice as long as a coordinate of the curve.
    package static func der(raw: [UInt8], curve: Curve) -> [UInt8]? {
        guard raw.count == 2 * curve.byteCount else { return nil }
        let r = DERWriter.integer(raw[..<curve.byteCount])
        let s = DERWriter.integer(raw[curve.byteCount...])
        return DERWriter.element(DERTag.sequence, r, s)
    }

    /// Converts DER to r ‖ s; nil when the DER is malformed, has trailing bytes, or a number is too large for the
    /// curve.
    package static func raw(der: [UInt8], curve: Curve) -> [UInt8]? {
        der.withUnsafeBytes { bytes -> [UInt8]? in
            var reader = DERReader(bytes)
            let raw = reader.sequence { reader -> [UInt8]? in
                guard let r = reader.unsignedInteger(), let s = reader.unsignedInteger(),
                    r.count <= curve.byteCount, s.count <= curve.byteCount
                else { return nil }
                var raw = [UInt8](repeating: 0, count: 2 * curve.byteCount)
                raw.replaceSubrange(curve.byteCount - r.count..<curve.byteCount, with: r)
                raw.replaceSubrange(raw.count - s.count..<raw.count, with: s)
                return raw
            }
            return reader.isAtEnd ? raw : nil
        }
    }
}
