// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams

/// The public half of the key pair of a passcode, which is in the anchor. With it an item is sealed for the passcode
/// without a prompt (behaviour AC-05); only the passcode opens it again.
struct PasscodePublicKey: Equatable, Sendable {
    /// Bytes of a point in X9.63 format: 04, X, Y.
    static let byteCount = 65
    static let identifierBytes = 8

    /// The point on P-256 in X9.63 format.
    let point: [UInt8]

    /// Adopts a point; nil for bytes of another form. Sealing checks that it is on the curve.
    init?(_ point: [UInt8]) {
        guard point.count == Self.byteCount, point[0] == 4 else { return nil }
        self.point = point
    }

    /// Names the pair in an item: the first bytes of X.
    var identifier: [UInt8] { Array(point[1...Self.identifierBytes]) }

    /// Makes a new secret that the private half can compute too.
    ///
    /// - Returns: the point that the private half needs, 65 bytes, and two parts of a key: the secret and both points.
    func agree(_ random: any RandomSource) throws(Failure) -> (point: [UInt8], parts: [SecretBytes]) {
        guard let ephemeral = PrivateScalar(try random.bytes(SymmetricKey.byteCount), curve: .p256),
            let own = ephemeral.publicPoint
        else { throw Failure(.internalFailure, "No key for one item could be made.", hint: "Try again.") }
        guard let agreed = try ephemeral.agree(point) else {
            throw Failure.damagedStore("the passcode's public key in its anchor is not a point of its curve")
        }
        return (own, [agreed, SecretBytes(own + point)])
    }
}

/// The key pair of a passcode. It is derived from `U_pass`, so it is in memory only after a right passcode, and remains
/// when the passcode changes.
struct PasscodePair: Sendable {
    private let scalar: PrivateScalar
    let publicKey: PasscodePublicKey

    /// Derives the pair from `U_pass`.
    init(_ key: SymmetricKey) throws(Failure) {
        // Fewer than one in four billion derived values are no scalar.
        for number in 0..<4 as Range<UInt8> {
            let derived = try key.derive(.passcodePair, context: [number]).secret
            if let scalar = PrivateScalar(derived, curve: .p256),
                let publicKey = scalar.publicPoint.flatMap(PasscodePublicKey.init)
            {
                (self.scalar, self.publicKey) = (scalar, publicKey)
                return
            }
        }
        throw Failure(.internalFailure, "No key pair of the passcode can be derived.")
    }

    /// Returns the two parts of a key that `PasscodePublicKey.agree` returned with that point; nil if the bytes are not a
    /// point on P-256.
    func parts(_ point: [UInt8]) throws(Failure) -> [SecretBytes]? {
        guard let agreed = try scalar.agree(point) else { return nil }
        return [agreed, SecretBytes(point + publicKey.point)]
    }
}
