// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel

extension PortablePublicKey {
    /// Reads a public key from the string members of a JSON Web Key.
    ///
    /// Computes in this process; does not block or prompt. Source: RFC 7517, section 4; RFC 7518, section 6.
    ///
    /// - Parameter members: the members of the JSON object whose values are strings. Either `kty` is `EC`, with `crv`
    ///   (`P-256`, `P-384` or `P-521`) and the coordinates `x` and `y`, each 32, 48 or 66 bytes as its curve requires;
    ///   or `kty` is `RSA`, with modulus `n` and exponent `e` without leading zero bytes. Numbers are big-endian, in
    ///   base64url without padding. Other members, such as `kid` and `use`, are ignored, as RFC 7517 requires.
    /// - Throws: `privateKey` when `d`, `p`, `q`, `dp`, `dq`, `qi`, `oth` or `k` is present; `unsupported` for another
    ///   `kty` or `crv`; `malformed` when a number is missing, is not base64url or has the wrong length; `invalidKey`
    ///   when the point is not on its curve or the RSA key is not accepted (see ``PortablePublicKey``).
    public init(jwk members: [String: String]) throws(KeyFormatError) {
        guard Self.privateMembers.allSatisfy({ members[$0] == nil }) else {
            throw KeyFormatError(.privateKey, "The JSON Web Key has members of a private or symmetric key.")
        }
        switch members["kty"] {
        case "EC":
            guard let name = members["crv"], let curve = Curve.allCases.first(where: { $0.jwkName == name }) else {
                throw KeyFormatError(.unsupported, "The curve of the JSON Web Key is not supported.")
            }
            let x = try Self.number("x", members)
            let y = try Self.number("y", members)
            guard x.count == curve.byteCount, y.count == curve.byteCount else {
                throw KeyFormatError(.malformed, "The coordinates of the JSON Web Key have the wrong length.")
            }
            guard let key = PublicKey([4] + x + y, type: .ellipticCurve(curve)) else {
                throw KeyFormatError(.invalidKey, "The point of the JSON Web Key is not on its curve.")
            }
            self.key = key
        case "RSA":
            let modulus = try Self.number("n", members)
            let exponent = try Self.number("e", members)
            // RFC 7518, section 6.3.1.1, requires the minimum number of octets.
            guard modulus.first != 0, exponent.first != 0 else {
                throw KeyFormatError(.malformed, "A number of the JSON Web Key begins with a zero byte.")
            }
            guard let key = PublicKey(modulus: modulus, exponent: exponent) else {
                throw KeyFormatError(.invalidKey, "The modulus or the exponent of the RSA key is not accepted.")
            }
            self.key = key
        default: throw KeyFormatError(.unsupported, "The type of the JSON Web Key is neither EC nor RSA.")
        }
    }

    /// Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4).
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    private static func number(_ name: String, _ members: [String: String]) throws(KeyFormatError) -> [UInt8] {
        guard let text = members[name], let bytes = Base64.url.decode(text.utf8), !bytes.isEmpty else {
            throw KeyFormatError(.malformed, "The member \(name) of the JSON Web Key is missing or is not base64url.")
        }
        return bytes
    }

    /// The required members of the key's JSON Web Key, whose values are all strings.
    ///
    /// They are `crv`, `kty`, `x` and `y` for an elliptic curve key; `e`, `kty` and `n` for an RSA key. Numbers are
    /// encoded as ``init(jwk:)`` reads them. Source: RFC 7518, sections 6.2.1 and 6.3.1.
    public var jwk: [String: String] {
        guard case .ellipticCurve(let curve) = key.type else {
            let numbers = key.rsaNumbers
            return [
                "kty": "RSA", "n": Base64.url.encode(numbers?.modulus ?? []),
                "e": Base64.url.encode(numbers?.exponent ?? []),
            ]
        }
        let point = externalRepresentation.dropFirst()
        return [
            "kty": "EC", "crv": curve.jwkName, "x": Base64.url.encode(point.prefix(curve.byteCount)),
            "y": Base64.url.encode(point.suffix(curve.byteCount)),
        ]
    }

    /// The JSON Web Key as JSON text: the members of ``jwk`` sorted by name, without blanks.
    ///
    /// This text is also the input of the thumbprint. Source: RFC 7638, section 3.3.
    public var jwkText: String {
        // No value needs JSON escapes: all are base64url or names of types and curves.
        "{" + jwk.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
    }

    /// Computes the SHA-256 thumbprint of the JSON Web Key, often used as `kid`.
    ///
    /// Computes in this process; does not block or prompt. Source: RFC 7638, section 3.
    ///
    /// - Returns: the digest (32 bytes) in base64url without padding, 43 characters.
    /// - Throws: `internalFailure` when libcrypto fails to compute the digest.
    public func jwkThumbprint() throws(KeyFormatError) -> String {
        do throws(Failure) {
            return Base64.url.encode(try DigestAlgorithm.sha256.hash(Array(jwkText.utf8)))
        } catch {
            throw KeyFormatError(.internalFailure, error.message.description)
        }
    }
}

extension Curve {
    /// The value of `crv` (RFC 7518, section 6.2.1.1).
    fileprivate var jwkName: String {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        }
    }
}
