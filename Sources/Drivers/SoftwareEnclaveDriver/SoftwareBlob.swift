// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams

/// A private key as the software enclave exports it (`docs/reference/store-format.md`, section "An item").
enum SoftwareBlob: Sendable {
    /// `01`, the scalar (32 bytes, big-endian), the public key (X9.63, 65 bytes).
    case plain(PrivateScalar)
    /// `02`, the scalar sealed under the key's password with the public key as associated data, the public key.
    case sealed(scalar: [UInt8], point: [UInt8])

    private static let scalarBytes = 32
    private static let pointBytes = 65
    private static let sealedBytes = SymmetricKey.nonceBytes + scalarBytes + SymmetricKey.tagBytes

    /// Whether a blob is of this kind; it may still be malformed.
    static func hasValidForm(_ blob: SecretBytes) -> Bool { blob.withBytes { $0.first == 1 || $0.first == 2 } }

    /// Decodes a blob; nil unless it has one of the two forms.
    init?(_ blob: SecretBytes) {
        let decoded: SoftwareBlob? = blob.withBytes { bytes in
            guard let version = bytes.first, let width = [1: Self.scalarBytes, 2: Self.sealedBytes][version],
                bytes.count == 1 + width + Self.pointBytes, bytes[1 + width] == 4
            else { return nil }
            let body = UnsafeRawBufferPointer(rebasing: bytes[1..<1 + width])
            if version == 2 { return .sealed(scalar: Array(body), point: Array(bytes[(1 + width)...])) }
            return PrivateScalar(SecretBytes(copying: body), curve: .p256).map { .plain($0) }
        }
        guard let decoded else { return nil }
        self = decoded
    }

    /// Makes a key, sealed under `password` unless that is nil.
    static func makeKey(password: SecretBytes?, _ random: any RandomSource) throws(Failure) -> ModuleKey {
        let key = try PrivateKey.generate(.p256)
        let point = key.publicKey.externalRepresentation
        // The external representation is the point and then the scalar.
        let scalar = key.externalRepresentation.withBytes {
            SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[point.count...]))
        }
        guard let password else { return ModuleKey(blob: blob(1, scalar, point), publicKey: point) }
        let nonce = try random.bytes(SymmetricKey.nonceBytes).copyBytes()
        let sealed = try sealingKey(password).seal(scalar, nonce: nonce, authenticating: point)
        return ModuleKey(blob: blob(2, SecretBytes(sealed), point), publicKey: point)
    }

    /// Returns the private scalar.
    ///
    /// - Throws: `itemAuthenticationFailed` if the key has a password and `password` is another one or nil.
    func scalar(password: SecretBytes?) throws(Failure) -> PrivateScalar {
        switch self {
        case .plain(let scalar): return scalar
        case .sealed(let sealed, let point):
            guard let password,
                let scalar = try Self.sealingKey(password).open(sealed, authenticating: point),
                let opened = PrivateScalar(scalar, curve: .p256)
            else { throw Failure(.itemAuthenticationFailed, "The password of the key is missing or wrong.") }
            return opened
        }
    }

    private static func sealingKey(_ password: SecretBytes) throws(Failure) -> SymmetricKey {
        guard let key = SymmetricKey(password) else {
            throw Failure(.internalFailure, "The password of a key has \(SymmetricKey.byteCount) bytes.")
        }
        return key
    }

    private static func blob(_ version: UInt8, _ body: SecretBytes, _ point: [UInt8]) -> SecretBytes {
        SecretBytes(count: 1 + body.count + point.count) { target in
            target[0] = version
            body.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[1..<1 + $0.count]).copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: target[(1 + body.count)...]).copyBytes(from: point)
        }
    }
}
