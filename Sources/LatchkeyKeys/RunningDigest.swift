// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import LatchkeyModel

/// Computes the digest of a message in pieces, so that a file of any length needs little memory.
package final class RunningDigest {
    private let context: OpaquePointer
    private let algorithm: DigestAlgorithm

    /// Starts an empty message.
    package init(_ algorithm: DigestAlgorithm) throws(Failure) {
        guard let context = EVP_MD_CTX_new() else { throw RunningDigest.failure }
        self.context = context
        self.algorithm = algorithm
        guard EVP_DigestInit_ex2(context, algorithm.method, nil) == 1 else { throw RunningDigest.failure }
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Appends the next piece of the message.
    package func add(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { throw RunningDigest.failure }
    }

    /// Returns the digest of all pieces and starts a new, empty message.
    package func finish() throws(Failure) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: algorithm.byteCount)
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1,
            EVP_DigestInit_ex2(context, algorithm.method, nil) == 1
        else { throw RunningDigest.failure }
        return digest
    }

    private static let failure = Failure(.internalFailure, "libcrypto could not hash")
}

extension DigestAlgorithm {
    /// Computes the digest of a message; throws `internalFailure` when libcrypto fails.
    package func hash(_ message: [UInt8]) throws(Failure) -> [UInt8] {
        let digest = try RunningDigest(self)
        try SecretBytes(message).withBytes { (bytes) throws(Failure) in try digest.add(bytes) }
        return try digest.finish()
    }
}
