// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import LatchkeyCrypto

/// The public key of an SSH server: Ed25519, ECDSA on a NIST curve, RSA, or an OpenSSH certificate of one of them.
///
/// The authority that signed a certificate is not verified: the person is shown the key inside, never a name that the
/// certificate claims.
package struct HostKey: Equatable, Sendable {
    /// The key or certificate as the program sent it.
    package let blob: [UInt8]
    /// The blob of the key; for a certificate, of the key inside.
    package let plainBlob: [UInt8]
    /// The algorithm of the key, such as `ssh-ed25519`.
    package let algorithm: String
    private let verifier: Verifier

    private enum Verifier: Equatable {
        case ed25519([UInt8])
        case ecdsa(PublicKey)
        case rsa(PublicKey)
    }

    private static let certificateSuffix = "-cert-v01@openssh.com"

    /// Reads a blob (RFC 4253, section 6.6; RFC 5656, section 3.1; RFC 8709, section 4; OpenSSH: `PROTOCOL.certkeys`).
    package init(_ blob: [UInt8]) throws(SSHFormatError) {
        var reader = SSHReader(blob)
        let name = try reader.text()
        let isCertificate = name.hasSuffix(Self.certificateSuffix)
        let plainName = isCertificate ? String(name.dropLast(Self.certificateSuffix.count)) : name
        if isCertificate { _ = try reader.string() }
        var plain = SSHWriter()
        plain.add(string: Array(plainName.utf8))
        verifier = try Self.key(plainName, &reader, &plain)
        if isCertificate { try Self.skipCertificate(&reader) }
        try reader.end()
        self.blob = blob
        algorithm = plainName
        plainBlob = plain.bytes
    }

    private static func key(
        _ name: String, _ reader: inout SSHReader, _ plain: inout SSHWriter
    ) throws(SSHFormatError) -> Verifier {
        switch name {
        case "ssh-ed25519":
            let key = try reader.string()
            guard key.count == Ed25519.publicKeyBytes else { throw SSHFormatError() }
            plain.add(string: key)
            return .ed25519(key)
        case "ssh-rsa":
            let (exponent, modulus) = (try reader.number(), try reader.number())
            guard let key = PublicKey(modulus: modulus, exponent: exponent) else { throw SSHFormatError() }
            plain.add(number: exponent)
            plain.add(number: modulus)
            return .rsa(key)
        default:
            guard let curve = Curve.allCases.first(where: { name == "ecdsa-sha2-" + $0.sshName }) else {
                throw SSHFormatError()
            }
            let (curveName, point) = (try reader.text(), try reader.string())
            guard curveName == curve.sshName, let key = PublicKey(point, type: .ellipticCurve(curve)) else {
                throw SSHFormatError()
            }
            plain.add(string: Array(curveName.utf8))
            plain.add(string: point)
            return .ecdsa(key)
        }
    }

    /// Reads the fields after the key: serial, type, identifier, principals, validity, options, authority, signature.
    private static func skipCertificate(_ reader: inout SSHReader) throws(SSHFormatError) {
        _ = try reader.take(8)
        _ = try reader.uint32()
        for _ in 0..<2 { _ = try reader.string() }
        _ = try reader.take(16)
        for _ in 0..<5 { _ = try reader.string() }
    }

    /// Whether `signature`, a signature blob, is valid for the message. SHA-1 is not accepted.
    package func verifies(_ message: [UInt8], signature: [UInt8]) -> Bool {
        var reader = SSHReader(signature)
        do throws(SSHFormatError) {
            let (name, bytes) = (try reader.text(), try reader.string())
            try reader.end()
            switch verifier {
            case .ed25519(let key):
                return name == algorithm && Ed25519.verifies(message, signature: bytes, publicKey: key)
            case .ecdsa(let key):
                guard name == algorithm else { return false }
                return try Self.verifiesECDSA(key, message, bytes)
            case .rsa(let key): return Self.verifiesRSA(key, name, message, bytes)
            }
        } catch {
            return false
        }
    }

    private static func verifiesECDSA(
        _ key: PublicKey, _ message: [UInt8], _ signature: [UInt8]
    ) throws(SSHFormatError) -> Bool {
        guard case .ellipticCurve(let curve) = key.type else { return false }
        var reader = SSHReader(signature)
        let numbers = [try reader.number(), try reader.number()]
        try reader.end()
        guard numbers.allSatisfy({ $0.count <= curve.byteCount }) else { return false }
        let raw = numbers.flatMap { [UInt8](repeating: 0, count: curve.byteCount - $0.count) + $0 }
        // A failure of libcrypto counts as a wrong signature.
        guard let digest = try? curve.sshDigest.hash(message), let der = ECDSASignature.der(raw: raw, curve: curve)
        else {
            return false
        }
        return key.verifiesECDSA(digest, der: der)
    }

    private static func verifiesRSA(
        _ key: PublicKey, _ name: String, _ message: [UInt8], _ signature: [UInt8]
    ) -> Bool {
        let algorithm: DigestAlgorithm
        switch name {
        case "rsa-sha2-256": algorithm = .sha256
        case "rsa-sha2-512": algorithm = .sha512
        default: return false
        }
        guard signature.count <= key.blockBytes, let digest = try? algorithm.hash(message) else { return false }
        // Some servers leave out leading zeros.
        let padded = [UInt8](repeating: 0, count: key.blockBytes - signature.count) + signature
        return key.verifiesRSA(digest, .pkcs1Digest(algorithm), signature: padded)
    }

    /// The fingerprint that `ssh-keygen -l` shows, such as `SHA256:tkDR…`.
    package var fingerprint: String {
        // A failure of libcrypto must not look like the fingerprint of a key.
        guard let digest = try? DigestAlgorithm.sha256.hash(plainBlob) else { return "SHA256:?" }
        return "SHA256:" + Base64.standard.encode(digest).prefix { $0 != "=" }
    }
}

extension Curve {
    /// The curve's identifier (RFC 5656, section 10.1).
    fileprivate var sshName: String { "nistp\(bitCount)" }

    /// The digest that signatures of the curve use (RFC 5656, section 6.2.1).
    fileprivate var sshDigest: DigestAlgorithm {
        switch self {
        case .p256: .sha256
        case .p384: .sha384
        case .p521: .sha512
        }
    }
}
