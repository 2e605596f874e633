// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The last 16 bytes of a secret, kept masked so that remembering them is no copy.
///
/// The last ones, since an allocator writes over the first of what it takes back.
package struct SecretTrace: Sendable {
    private static let byteCount = 16
    private static let mask: UInt8 = 0xa5
    private let masked: [UInt8]

    /// Remembers a secret of at least 32 bytes.
    package init(of secret: SecretBytes) {
        precondition(secret.count >= 2 * Self.byteCount)
        masked = secret.withBytes { bytes in
            (bytes.count - Self.byteCount..<bytes.count).map { bytes[$0] ^ Self.mask }
        }
    }

    /// A secret that exists nowhere else: its bytes are computed where they are kept.
    package static func makeSecret(byteCount: Int = 32) -> SecretBytes {
        var numbers = SeededGenerator(seed: UInt64.random(in: 0...UInt64.max))
        return SecretBytes(count: byteCount) { target in
            for index in 0..<byteCount { target[index] = UInt8(truncatingIfNeeded: numbers.next() >> 24) }
        }
    }

    /// How often the bytes stand in this process's writable memory, freed memory included, but for the stack of
    /// this thread, where libraries spill registers; nil when it cannot be read.
    ///
    /// Other threads may overwrite freed memory before it is looked at, so a copy can be missed, but a copy that is
    /// found is one.
    package func copiesInMemory() -> Int? {
        guard let memory = try? ProcessMemory() else { return nil }
        let needle = WipedMemory(byteCount: Self.byteCount)
        for (index, byte) in masked.enumerated() {
            needle.base.storeBytes(of: byte ^ Self.mask, toByteOffset: index, as: UInt8.self)
        }
        return memory.count(of: [needle])
    }
}
