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
    fileprivate init?(_ reader: inout DERReader) {
        let type = reader.sequence { reader -> KeyType? in
            guard let name = reader.element(DERTag.objectIdentifier) else { return nil }
            if name.elementsEqual(KeyObjectIdentifier.rsaEncryption) { return reader.null() ? .rsa : nil }
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
    /// An elliptic curve key inside is an `ECPrivateKey` (RFC 5915). nil when the bytes are malformed, have trailing
    /// bytes, hold an unsupported key, or contain a public key that does not match the private key.
    package convenience init?(pkcs8 der: SecretBytes) {
        let read = der.withBytes { bytes -> Contents? in
            var reader = DERReader(bytes)
            let read = reader.sequence(PrivateKey.readContents)
            return reader.isAtEnd ? read : nil
        }
        switch read {
        case nil: return nil
        case .rsa(let external): self.init(external, type: .rsa)
        case .ellipticCurve(let curve, let scalar, let point): self.init(scalar: scalar, curve: curve, point: point)
        }
    }

    private enum Contents {
        case rsa(SecretBytes)
        case ellipticCurve(Curve, SecretBytes, point: [UInt8]?)
    }

    private static func readContents(_ reader: inout DERReader) -> Contents? {
        guard let version = reader.unsignedInteger(), version.isEmpty || version.elementsEqual([1]),
            let type = KeyType(&reader), let key = reader.element(DERTag.octetString)
        else { return nil }
        // Attributes are skipped. A public key (version 1 only) is compared with the one computed from the private key.
        if reader.tag == DERTag.context0, reader.element(DERTag.context0) == nil { return nil }
        var outer: [UInt8]?
        if reader.tag == DERTag.primitive1 {
            guard !version.isEmpty, let point = reader.bitString(DERTag.primitive1) else { return nil }
            outer = Array(point)
        }
        guard case .ellipticCurve(let curve) = type else {
            return outer == nil ? .rsa(SecretBytes(copying: key)) : nil
        }
        var inner = DERReader(key)
        guard let (scalar, point) = inner.sequence({ readCurveKey(&$0, curve) }), inner.isAtEnd,
            point == nil || outer == nil || point == outer
        else { return nil }
        return .ellipticCurve(curve, scalar, point: point ?? outer)
    }

    /// Reads an `ECPrivateKey` (RFC 5915, section 3): its scalar and, when present, its public point.
    private static func readCurveKey(_ reader: inout DERReader, _ curve: Curve) -> (SecretBytes, [UInt8]?)? {
        guard let version = reader.unsignedInteger(), version.elementsEqual([1]),
            let scalar = reader.element(DERTag.octetString)
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
        return (SecretBytes(copying: scalar), point)
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
            let after = DERWriter.element(
                DERTag.context1, DERWriter.bitString(publicKey.externalRepresentation))
            let header = DERWriter.header(DERTag.sequence, before.count + scalar.count + after.count)
            key = DERWriter.secret(header + before, scalar, after)
        }
        let before =
            DERWriter.integer([]) + type.algorithmIdentifier + DERWriter.header(DERTag.octetString, key.count)
        return DERWriter.secret(DERWriter.header(DERTag.sequence, before.count + key.count) + before, key)
    }
}
