// SPDX-License-Identifier: Apache-2.0

/// The two forms of an ECDSA signature.
///
/// One is the two numbers r and s side by side, each as wide as a coordinate (RFC 4754, section 7); the other is the
/// DER of a sequence of both (ANSI X9.62; RFC 3279, section 2.2.3).
package enum ECDSASignature {
    /// The DER of r ‖ s; nil when it is not two numbers of the curve's width.
    package static func der(raw: [UInt8], curve: Curve) -> [UInt8]? {
        guard raw.count == 2 * curve.byteCount else { return nil }
        let r = DERWriter.integer(raw[..<curve.byteCount])
        let s = DERWriter.integer(raw[curve.byteCount...])
        return DERWriter.element(DERTag.sequence, r, s)
    }

    /// r ‖ s of the DER; nil when it is not DER, is followed by anything or does not fit the curve.
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
