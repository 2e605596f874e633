// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Memory for a search, wiped when it is freed.
package final class WipedMemory {
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int

    package init(byteCount: Int) {
        self.byteCount = byteCount
        base = .allocate(byteCount: byteCount, alignment: 16)
    }

    convenience init(_ bytes: [UInt8]) {
        self.init(byteCount: bytes.count)
        for (index, byte) in bytes.enumerated() { base.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
    }

    deinit {
        explicit_bzero(base, byteCount)
        base.deallocate()
    }

    /// Whether the address is in this memory.
    func contains(_ address: UInt) -> Bool {
        let start = UInt(bitPattern: base)
        return start <= address && address < start + UInt(byteCount)
    }

    /// Offsets of `needle` in the first `length` bytes, of matches that begin before `end`.
    func offsets(of needle: WipedMemory, beginningBefore end: Int, within length: Int) -> [UInt] {
        guard needle.byteCount > 0 else { return [] }
        var offsets: [UInt] = []
        let first = Int32(needle.base.load(as: UInt8.self))
        let stop = min(end, length - needle.byteCount + 1)
        var offset = 0
        while offset < stop, let hit = memchr(base + offset, first, stop - offset) {
            offset = hit - base
            if memcmp(hit, needle.base, needle.byteCount) == 0 { offsets.append(UInt(offset)) }
            offset += 1
        }
        return offsets
    }
}
