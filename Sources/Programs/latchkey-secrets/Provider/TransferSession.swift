// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyCrypto
import LatchkeyModel

/// How secrets are encoded between the provider and one program, agreed by `OpenSession`.
enum TransferSession: Sendable {
    case plain
    case encrypted(SecretTransferKey)

    static let plainName = "plain"
    static let encryptedName = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// A secret as the bus carries it: `(oayays)`.
    ///
    /// - Parameter session: the path of the session.
    func encode(_ secret: SecretBytes, contentType: String, session: String) throws(Failure) -> BusValue {
        let (parameters, value): (SecretBytes, SecretBytes)
        switch self {
        case .plain: (parameters, value) = (SecretBytes([]), secret)
        case .encrypted(let key): (parameters, value) = try key.seal(secret)
        }
        return .list([.path(session), .bytes(parameters), .bytes(value), .string(contentType)])
    }

    func decode(parameters: SecretBytes, value: SecretBytes) throws(Failure) -> SecretBytes {
        switch self {
        case .plain:
            guard parameters.count == 0 else { throw Self.undecodable }
            return value
        case .encrypted(let key):
            guard let secret = try key.open(value, vector: parameters) else { throw Self.undecodable }
            return secret
        }
    }

    private static var undecodable: Failure {
        Failure(.invalidParameter, "The secret is not encoded as the session says.")
    }
}

/// A secret that a program sent, as the bus carries it.
struct SentSecret: Sendable {
    let session: String
    private let parameters: SecretBytes
    private let value: SecretBytes
    let contentType: String

    init?(_ value: BusValue) {
        guard let fields = value.values, fields.count == 4, let session = fields[0].text,
            let parameters = fields[1].octets, let bytes = fields[2].octets, let contentType = fields[3].text
        else { return nil }
        (self.session, self.parameters, self.value, self.contentType) = (session, parameters, bytes, contentType)
    }

    /// Whether decoding takes longer than a wake-up of a thread.
    var isLong: Bool { value.count > 8 << 10 }

    func decoded(by session: TransferSession) throws(Failure) -> SecretBytes {
        let secret = try session.decode(parameters: parameters, value: value)
        guard secret.count <= Limits.secretBytes else {
            throw Failure(.dataTooLarge, "A secret has at most 1 MiB.")
        }
        return secret
    }
}
