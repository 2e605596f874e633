// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A key that authenticates many messages with HMAC-SHA-256 (RFC 2104).
///
/// The key is prepared once: fetching the algorithm and hashing the padded key for every message would cost several
/// times as much as a message. libcrypto wipes its copy of the key when the last copy of this value is destroyed.
package struct AuthenticationKey: Sendable {
    private let prepared: PreparedHMAC

    /// Prepares a key; throws `internalFailure` when libcrypto fails.
    package init(_ key: SymmetricKey) throws(Failure) {
        guard let prepared = key.secret.withBytes({ PreparedHMAC(key: $0) }) else { throw Self.failure }
        self.prepared = prepared
    }

    /// Returns the authentication code of `message`: 32 bytes, equal to those of `SymmetricKey.authenticationCode`.
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
