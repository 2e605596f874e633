// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A key that authenticates many messages with HMAC-SHA-256 (RFC 2104).
///
/// The key is taken up once: looking the algorithm up and hashing the padded key again for every message costs several
/// times what the message does. libcrypto wipes what it keeps of the key when the last copy of this value goes away.
package struct AuthenticationKey: Sendable {
    private let prepared: PreparedHMAC

    /// Takes the key up.
    package init(_ key: SymmetricKey) throws(Failure) {
        guard let prepared = key.secret.withBytes({ PreparedHMAC(key: $0) }) else { throw Self.failure }
        self.prepared = prepared
    }

    /// The code of `message`: 32 bytes, the same that `SymmetricKey.authenticationCode` gives.
    package func code(_ message: [UInt8]) throws(Failure) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        let isMade = code.withUnsafeMutableBytes { output in
            message.withUnsafeBytes { prepared.code($0, output: output) }
        }
        guard isMade else { throw Self.failure }
        return code
    }

    private static let failure = Failure(.internalFailure, "libcrypto could not authenticate")
}
