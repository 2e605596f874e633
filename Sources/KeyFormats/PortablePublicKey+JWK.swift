// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys
import LatchkeyModel

extension PortablePublicKey {
    /// Reads the members of a JSON Web Key whose values are strings (RFC 7517, section 4; RFC 7518, section 6).
    ///
    /// - Parameter members: `kty` `EC` with `crv` `P-256`, `P-384` or `P-521` and `x` and `y`, each as wide as the curve;
    ///   or `kty` `RSA` with `n` and `e` without leading zeros; numbers big-endian, in base64url without padding. Other
    ///   members, such as `kid` or `use`, are ignored, as RFC 7517 demands, except those of a private key.
    /// - Throws: `privateKey` when a member of a private key is there; `unsupported` for another type or curve;
    ///   `malformed`, `invalidKey`.
    public init(jwk members: [String: String]) throws(KeyFormatError) {
        guard Self.privateMembers.allSatisfy({ members[$0] == nil }) else {
            throw KeyFormatError(.privateKey, "The JSON Web Key holds a private key, which does not belong here.")
        }
        switch members["kty"] {
        case "EC":
            guard let name = members["crv"], let curve = Curve.allCases.first(where: { $0.jwkName == name }) else {
                throw KeyFormatError(.unsupported, "The JSON Web Key is of a curve that is not accepted.")
            }
            let x = try Self.number("x", members)
            let y = try Self.number("y", members)
            guard x.count == curve.byteCount, y.count == curve.byteCount else {
                throw KeyFormatError(.malformed, "The coordinates of the JSON Web Key are not as wide as its curve.")
            }
            guard let key = PublicKey([4] + x + y, type: .ellipticCurve(curve)) else {
                throw KeyFormatError(.invalidKey, "The point of the JSON Web Key is not on its curve.")
            }
            self.key = key
        case "RSA":
            let modulus = try Self.number("n", members)
            let exponent = try Self.number("e", members)
            // RFC 7518, section 6.3.1.1: as few octets as possible.
            guard modulus.first != 0, exponent.first != 0 else {
                throw KeyFormatError(.malformed, "A number of the JSON Web Key begins with a zero.")
            }
            guard let key = PublicKey(modulus: modulus, exponent: exponent) else {
                throw KeyFormatError(.invalidKey, "The numbers of the JSON Web Key are no key that is accepted.")
            }
            self.key = key
        default: throw KeyFormatError(.unsupported, "The JSON Web Key is neither EC nor RSA.")
        }
    }

    /// Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4).
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    private static func number(_ name: String, _ members: [String: String]) throws(KeyFormatError) -> [UInt8] {
        guard let text = members[name], let bytes = Base64.url.decode(text.utf8), !bytes.isEmpty else {
            throw KeyFormatError(.malformed, "The member \(name) of the JSON Web Key is no number in base64url.")
        }
        return bytes
    }

    /// The members that make the key, all of them strings: `crv`, `kty`, `x`, `y`, or `e`, `kty`, `n`.
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

    /// The JSON Web Key as text: the members of `jwk` in the order of their names, without blanks. It is the input of the
    /// thumbprint (RFC 7638, section 3.3).
    public var jwkText: String {
        // Base64url and the names of curves hold nothing that JSON escapes.
        "{" + jwk.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
    }

    /// The thumbprint of the JSON Web Key with SHA-256 (RFC 7638), 43 characters of base64url, as used for `kid`.
    ///
    /// - Throws: `internalFailure` when libcrypto does not hash.
    public func jwkThumbprint() throws(KeyFormatError) -> String {
        do throws(Failure) {
            return Base64.url.encode(try DigestAlgorithm.sha256.hash(Array(jwkText.utf8)))
        } catch {
            throw KeyFormatError(.internalFailure, error.message)
        }
    }
}

extension Curve {
    /// RFC 7518, section 6.2.1.1.
    fileprivate var jwkName: String {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        }
    }
}
