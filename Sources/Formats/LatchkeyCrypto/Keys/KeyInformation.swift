// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Object identifiers of algorithms and curves, as DER contents (RFC 3279, section 2.3; RFC 5480, section 2.1).
enum KeyObjectIdentifier {
    static let rsaEncryption: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
    static let ecPublicKey: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]

    static func curve(_ curve: Curve) -> [UInt8] {
        switch curve {
        case .p256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
        case .p384: [0x2b, 0x81, 0x04, 0x00, 0x22]
        case .p521: [0x2b, 0x81, 0x04, 0x00, 0x23]
        }
    }
}

extension KeyType {
    /// The `AlgorithmIdentifier` of this type, in DER.
    fileprivate var algorithmIdentifier: [UInt8] {
        switch self {
        case .rsa:
            DERWriter.element(
                DERTag.sequence, DERWriter.element(DERTag.objectIdentifier, KeyObjectIdentifier.rsaEncryption),
                DERWriter.element(DERTag.null))
        case .ellipticCurve(let curve):
            DERWriter.element(
                DERTag.sequence, DERWriter.element(DERTag.objectIdentifier, KeyObjectIdentifier.ecPublicKey),
                DERWriter.element(DERTag.objectIdentifier, KeyObjectIdentifier.curve(curve)))
        }
    }

    /// Reads an `AlgorithmIdentifier`, whose parameters must be NULL for RSA and a supported named curve otherwise.
    ///
    /// - Parameter mayLackNull: accepts RSA without parameters too, as other programs do.
    fileprivate init?(_ reader: inout DERReader, mayLackNull: Bool = false) {
        let type = reader.sequence { reader -> KeyType? in
            guard let name = reader.element(DERTag.objectIdentifier) else { return nil }
            if name.elementsEqual(KeyObjectIdentifier.rsaEncryption) {
                return mayLackNull && reader.isAtEnd || reader.null() ? .rsa : nil
            }
            guard name.elementsEqual(KeyObjectIdentifier.ecPublicKey) else { return nil }
            return Curve(&reader).map(KeyType.ellipticCurve)
        }
        guard let type else { return nil }
        self = type
    }
}

extension Curve {
    fileprivate init?(_ reader: inout DERReader) {
        guard let name = reader.element(DERTag.objectIdentifier),
            let curve = Curve.allCases.first(where: { name.elementsEqual(KeyObjectIdentifier.curve($0)) })
        else { return nil }
        self = curve
    }

    /// The scalar of another program's key file, as wide as a coordinate; nil when its value needs more bytes.
    ///
    /// RFC 5915, section 3, requires this width, but programs that encode the scalar as an integer drop its leading
    /// zeros or add one in front of its highest bit.
    fileprivate func scalar(fitting octets: UnsafeRawBufferPointer) -> SecretBytes? {
        let excess = max(0, octets.count - byteCount)
        guard octets.prefix(excess).allSatisfy({ $0 == 0 }) else { return nil }
        let digits = UnsafeRawBufferPointer(rebasing: octets[excess...])
        return DERWriter.secret([UInt8](repeating: 0, count: byteCount - digits.count), SecretBytes(copying: digits))
    }

    /// Whether `encoded` is one of the forms of an uncompressed point: compressed, uncompressed or hybrid (SEC 1,
    /// section 2.3.3; ANSI X9.62, section 4.3.6).
    fileprivate func isForm(_ encoded: [UInt8], of point: [UInt8]) -> Bool {
        guard encoded != point else { return true }
        guard let parity = point.last.map({ $0 & 1 }) else { return false }
        return encoded == [2 | parity] + point[1...byteCount] || encoded == [6 | parity] + point.dropFirst()
    }
}

extension PublicKey {
    /// Reads a DER `SubjectPublicKeyInfo` (RFC 5280, section 4.1.2.7); nil when it is malformed, has trailing bytes or
    /// holds an unsupported key.
    package convenience init?(subjectPublicKeyInfo der: [UInt8]) {
        let read = der.withUnsafeBytes { bytes -> (KeyType, [UInt8])? in
            var reader = DERReader(bytes)
            let read = reader.sequence { reader -> (KeyType, [UInt8])? in
                guard let type = KeyType(&reader), let key = reader.bitString() else { return nil }
                return (type, Array(key))
            }
            return reader.isAtEnd ? read : nil
        }
        guard let (type, external) = read else { return nil }
        self.init(external, type: type)
    }

    /// Reads a public RSA key in DER: a PKCS#1 `RSAPublicKey` or a `SubjectPublicKeyInfo` (behaviour SK-10).
    package convenience init?(rsaInEitherForm der: [UInt8]) {
        let content = PublicKey(subjectPublicKeyInfo: der).flatMap { $0.type == .rsa ? $0.externalRepresentation : nil }
        self.init(content ?? der, type: .rsa)
    }

    /// The `SubjectPublicKeyInfo` of this key, in DER.
    package var subjectPublicKeyInfo: [UInt8] {
        DERWriter.element(DERTag.sequence, type.algorithmIdentifier, DERWriter.bitString(externalRepresentation))
    }
}

extension PrivateKey {
    /// Reads an unencrypted DER `PrivateKeyInfo` (PKCS#8: RFC 5208, section 5; version 1: RFC 5958).
    ///
    /// An elliptic curve key inside is an `ECPrivateKey` (SEC 1, section C.4; RFC 5915). Its scalar may have any
    /// number of leading zeros, its public key may be absent or compressed. nil when the bytes are malformed, have
    /// trailing bytes, hold an unsupported key, or contain a public key that does not match the private key.
    package convenience init?(pkcs8 der: SecretBytes) {
        let read = der.withBytes { bytes -> Contents? in
            var reader = DERReader(bytes)
            let read = reader.sequence(PrivateKey.readContents)
            return reader.isAtEnd ? read : nil
        }
        guard let read else { return nil }
        switch read.type {
        case .rsa:
            self.init(read.key, type: .rsa)
            guard read.publicKeys.allSatisfy({ $0 == publicKey.externalRepresentation }) else { return nil }
        case .ellipticCurve(let curve):
            self.init(scalar: read.key, curve: curve)
            // A mismatch would show the app a key pair that is not one.
            guard read.publicKeys.allSatisfy({ curve.isForm($0, of: publicKey.externalRepresentation) }) else {
                return nil
            }
        }
    }

    private struct Contents {
        let type: KeyType
        /// RSA: PKCS#1 `RSAPrivateKey`. Curve: the scalar, as wide as a coordinate.
        let key: SecretBytes
        /// The public keys that the file states besides: none, one or two.
        let publicKeys: [[UInt8]]
    }

    private static func readContents(_ reader: inout DERReader) -> Contents? {
        guard let version = reader.unsignedInteger(), version.isEmpty || version.elementsEqual([1]),
            let type = KeyType(&reader, mayLackNull: true), let key = reader.element(DERTag.octetString)
        else { return nil }
        // Attributes are skipped.
        if reader.tag == DERTag.context0, reader.element(DERTag.context0) == nil { return nil }
        var publicKeys: [[UInt8]] = []
        if reader.tag == DERTag.primitive1 {
            // RFC 5958, section 2: version 1 only.
            guard !version.isEmpty, let outer = reader.bitString(DERTag.primitive1) else { return nil }
            publicKeys.append(Array(outer))
        }
        guard case .ellipticCurve(let curve) = type else {
            return Contents(type: type, key: SecretBytes(copying: key), publicKeys: publicKeys)
        }
        var inner = DERReader(key)
        guard let (scalar, point) = inner.sequence({ readCurveKey(&$0, curve) }), inner.isAtEnd else { return nil }
        if let point { publicKeys.append(point) }
        return Contents(type: type, key: scalar, publicKeys: publicKeys)
    }

    /// Reads an `ECPrivateKey` (RFC 5915, section 3): its scalar and, when present, its public point.
    private static func readCurveKey(_ reader: inout DERReader, _ curve: Curve) -> (SecretBytes, [UInt8]?)? {
        guard let version = reader.unsignedInteger(), version.elementsEqual([1]),
            let octets = reader.element(DERTag.octetString), let scalar = curve.scalar(fitting: octets)
        else { return nil }
        if reader.tag == DERTag.context0 {
            guard let contents = reader.element(DERTag.context0) else { return nil }
            var parameters = DERReader(contents)
            guard Curve(&parameters) == curve, parameters.isAtEnd else { return nil }
        }
        var point: [UInt8]?
        if reader.tag == DERTag.context1 {
            guard let contents = reader.element(DERTag.context1) else { return nil }
            var wrapped = DERReader(contents)
            guard let bits = wrapped.bitString(), wrapped.isAtEnd else { return nil }
            point = Array(bits)
        }
        return (scalar, point)
    }

    /// The `PrivateKeyInfo` of this key in DER, version 0, not encrypted.
    package var pkcs8: SecretBytes {
        let key: SecretBytes
        switch type {
        case .rsa: key = externalRepresentation
        case .ellipticCurve(let curve):
            let scalar = externalRepresentation.withBytes {
                SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[curve.pointBytes...]))
            }
            let before = DERWriter.integer([1]) + DERWriter.header(DERTag.octetString, scalar.count)
            let after = DERWriter.element(DERTag.context1, DERWriter.bitString(publicKey.externalRepresentation))
            let header = DERWriter.header(DERTag.sequence, before.count + scalar.count + after.count)
            key = DERWriter.secret(header + before, scalar, after)
        }
        let before =
            DERWriter.integer([]) + type.algorithmIdentifier + DERWriter.header(DERTag.octetString, key.count)
        return DERWriter.secret(DERWriter.header(DERTag.sequence, before.count + key.count) + before, key)
    }
}
