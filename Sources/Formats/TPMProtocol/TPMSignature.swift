// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

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
