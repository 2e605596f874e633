// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The last 16 bytes of a secret, masked so that this value is not itself a copy.
///
/// Uses the last bytes because an allocator overwrites the first ones of freed memory.
package struct SecretTrace: Sendable {
    private static let byteCount = 16
    private static let mask: UInt8 = 0xa5
    private let masked: [UInt8]

    /// Masks the end of a secret of at least 32 bytes.
    package init(of secret: SecretBytes) {
        precondition(secret.count >= 2 * Self.byteCount)
        masked = secret.withBytes { bytes in
            (bytes.count - Self.byteCount..<bytes.count).map { bytes[$0] ^ Self.mask }
        }
    }

    /// Creates a random secret without copies: its bytes are computed in place.
    package static func makeSecret(byteCount: Int = 32) -> SecretBytes {
        var numbers = SeededGenerator(seed: UInt64.random(in: 0...UInt64.max))
        return SecretBytes(count: byteCount) { target in
            for index in 0..<byteCount { target[index] = UInt8(truncatingIfNeeded: numbers.next() >> 24) }
        }
    }

    /// Counts the copies of the bytes in this process's writable memory, including freed memory but excluding the
    /// stack of this thread, to which libraries spill registers; nil when memory cannot be read.
    ///
    /// Other threads may overwrite freed memory before it is searched, so a copy can be missed, but there are no false
    /// positives.
    package func copiesInMemory() -> Int? {
        guard let memory = try? ProcessMemory() else { return nil }
        let needle = WipedMemory(byteCount: Self.byteCount)
        for (index, byte) in masked.enumerated() {
            needle.base.storeBytes(of: byte ^ Self.mask, toByteOffset: index, as: UInt8.self)
        }
        return memory.count(of: [needle])
    }
}
