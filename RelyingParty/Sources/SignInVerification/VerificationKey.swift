// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyCrypto

/// A public key that verifies signatures, in the form in which a server stores it.
public struct VerificationKey: Equatable, Sendable {
    /// The only algorithm whose signatures it verifies.
    public let algorithm: SignatureAlgorithm
    /// The key.
    ///
    /// - ES256: the point without compression, `04 ‖ x ‖ y`, 65 bytes (SEC 1, section 2.3.3).
    /// - EdDSA: the public key of Ed25519, 32 bytes (RFC 8032, section 5.1.5).
    /// - RS256: the SubjectPublicKeyInfo in DER (RFC 3279, section 2.3.1). The modulus has 2,048 to 4,096 bits, and the public
    ///   exponent is 65,537.
    public let bytes: [UInt8]
    /// The identifier of the key: the SHA-256 digest of ``bytes``, 32 bytes.
    public let identifier: [UInt8]

    /// Reads a stored key, or one that a client sent.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - algorithm: the algorithm.
    ///   - bytes: the key in the form of ``bytes``.
    /// - Throws: `publicKey` for bytes of another form, a point that is not on the curve, a point of Ed25519 of small order,
    ///   and an RSA key with another size or exponent; `failure` if libcrypto fails.
    public init(algorithm: SignatureAlgorithm, bytes: [UInt8]) throws(VerificationError) {
        let isKey =
            switch algorithm {
            case .es256: LibCrypto.isPoint(bytes)
            case .eddsa: Ed25519Point.isKey(bytes)
            case .rs256: RSAPublicKey.isKey(bytes)
            }
        guard isKey else { throw .publicKey }
        do throws(CryptoFailure) {
            self.init(stored: bytes, algorithm, identifier: try LibCrypto.sha256(bytes))
        } catch {
            throw .failure
        }
    }

    /// A key that was registered. It is not checked here: ``isValid(_:for:)`` reads it again, and refuses one that libcrypto
    /// does not accept.
    ///
    /// - Parameter identifier: the identifier under which it is stored.
    package init(stored bytes: [UInt8], _ algorithm: SignatureAlgorithm, identifier: [UInt8]) {
        (self.algorithm, self.bytes, self.identifier) = (algorithm, bytes, identifier)
    }

    /// The key of a device.
    package init(_ key: P256PublicKey) { self.init(stored: key.point, .es256, identifier: key.identifier) }

    /// Reads a SubjectPublicKeyInfo in DER, as certificates have it. Its encoding is unique, so each algorithm has one prefix.
    init(information: [UInt8], _ algorithm: SignatureAlgorithm) throws(VerificationError) {
        switch algorithm {
        case .rs256: try self.init(algorithm: algorithm, bytes: information)
        case .eddsa:
            guard information.starts(with: Ed25519Point.prefix) else { throw .publicKey }
            try self.init(algorithm: algorithm, bytes: Array(information.dropFirst(Ed25519Point.prefix.count)))
        case .es256:
            let key: P256PublicKey?
            do throws(CryptoFailure) { key = try P256PublicKey(der: information) } catch { throw .failure }
            guard let key else { throw .publicKey }
            self.init(key)
        }
    }

    /// Whether a signature of the algorithm is valid for a message.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        switch algorithm {
        case .es256: P256PublicKey(registered: bytes, identifier: identifier).isValid(signature, for: message)
        case .eddsa: LibCrypto.verifyEd25519(signature, message, bytes)
        case .rs256: LibCrypto.verifyRSA(signature, message, bytes)
        }
    }
}
