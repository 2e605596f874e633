// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// Signs approvals with the key of an authority.
package struct ApprovalSigner: Sendable {
    private let scalar: PrivateScalar
    /// The public key, 65 bytes in X9.63 format.
    package let publicKey: [UInt8]

    /// Creates a signer; nil unless `scalar` is a private key of P-256, 32 bytes.
    package init?(_ scalar: SecretBytes) {
        guard let scalar = PrivateScalar(scalar, curve: .p256), let publicKey = scalar.publicPoint else { return nil }
        self.scalar = scalar
        self.publicKey = publicKey
    }

    /// Signs an approval; returns r and s, 32 bytes each.
    package func sign(_ text: ApprovalText) throws(Failure) -> [UInt8] {
        try scalar.sign(DigestAlgorithm.sha256.hash(text.bytes)).copyBytes()
    }
}

extension TPMReader {
    /// Reads an ECDSA signature with SHA-256 (`TPMT_SIGNATURE`, Part 2, section 11.3.4) as r and s, 32 bytes each.
    package mutating func rawSignature() throws(Failure) -> [UInt8] {
        try expect(TPMAlgorithm.ecdsa.rawValue)
        try expect(TPMAlgorithm.sha256.rawValue)
        let numbers = [try sized(limit: 32), try sized(limit: 32)]
        return numbers.flatMap { [UInt8](repeating: 0, count: 32 - $0.count) + $0 }
    }
}

extension TPMWriter {
    /// Appends an ECDSA signature with SHA-256 (`TPMT_SIGNATURE`): r and s, 32 bytes each.
    package mutating func add(signature: [UInt8]) throws(Failure) {
        add(.ecdsa)
        add(.sha256)
        try add(sized: Array(signature.prefix(32)))
        try add(sized: Array(signature.dropFirst(32)))
    }
}
