// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Random bytes from libcrypto's generator, which the kernel seeds.
///
/// The generator takes a microsecond for 12 bytes, and no longer for 256; adding an item asks six times. So short requests
/// are answered from a stock, in which what was taken is overwritten at once. A process must not fork and go on in both
/// halves: they would take the same bytes. The daemons fork only to execute another program.
package final class SystemRandomSource: RandomSource {
    /// The longest request that is answered from the stock: the length of a key.
    private static let longestFromStock = 32

    /// The unused random bytes, at the beginning of a buffer.
    private struct Stock: ~Copyable {
        static let capacity = 256
        let buffer = SecretBuffer(capacity: capacity)
        var count = 0

        /// Makes a secret of the last bytes, and overwrites them.
        mutating func take(_ wanted: Int) -> SecretBytes {
            count -= wanted
            return buffer.withBytes { bytes in
                let taken = UnsafeMutableRawBufferPointer(rebasing: bytes[count..<count + wanted])
                defer { taken.initializeMemory(as: UInt8.self, repeating: 0) }
                return SecretBytes(copying: UnsafeRawBufferPointer(taken))
            }
        }

        mutating func fill() throws(Failure) {
            let fresh = try randomSecret(Self.capacity)
            buffer.withBytes { bytes in fresh.withBytes { bytes.copyMemory(from: $0) } }
            count = Self.capacity
        }
    }

    private let stock = Mutex(Stock())

    package init() {}

    package func bytes(_ count: Int) throws(Failure) -> SecretBytes {
        guard count <= Self.longestFromStock else { return try randomSecret(count) }
        return try stock.withLock { (stock) throws(Failure) in
            if stock.count < count { try stock.fill() }
            return stock.take(count)
        }
    }
}
