// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import LatchkeyModel

/// A digest of a message that comes in pieces, so that a file of any length needs little memory.
package final class RunningDigest {
    private let context: OpaquePointer
    private let algorithm: DigestAlgorithm

    /// Begins with the empty message.
    package init(_ algorithm: DigestAlgorithm) throws(Failure) {
        guard let context = EVP_MD_CTX_new() else { throw RunningDigest.failure }
        self.context = context
        self.algorithm = algorithm
        guard EVP_DigestInit_ex2(context, algorithm.method, nil) == 1 else { throw RunningDigest.failure }
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Takes the next piece.
    package func add(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { throw RunningDigest.failure }
    }

    /// The digest of all pieces; the next message begins.
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
    /// The digest of bytes.
    package func hash(_ message: [UInt8]) throws(Failure) -> [UInt8] {
        let digest = try RunningDigest(self)
        try SecretBytes(message).withBytes { (bytes) throws(Failure) in try digest.add(bytes) }
        return try digest.finish()
    }
}
