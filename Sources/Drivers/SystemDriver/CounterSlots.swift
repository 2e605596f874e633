// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// The file `counters`: a block with the file mark, then two slots of one block each. It is written in full once,
/// then overwritten in place, which needs no free space unless the file system copies on write.
enum CounterSlots {
    private static let blockBytes = 4096
    private static let slots = 2

    /// Returns the contents of the slots; nil when the file does not exist, an empty array when it is malformed.
    static func read(_ path: String) throws(SystemError) -> [[UInt8]]? {
        guard let bytes = try Files.read(path, limit: 64 << 10)?.copyBytes() else { return nil }
        guard bytes.count == blockBytes * (1 + slots), bytes.starts(with: FileMark.counters.bytes) else { return [] }
        return (1...slots).map { index in
            let block = bytes[blockBytes * index..<blockBytes * (index + 1)]
            let start = block.startIndex
            let count = Int(block[start]) << 8 | Int(block[start + 1])
            return count <= CounterSlot.capacity ? Array(block[start + 2..<start + 2 + count]) : []
        }
    }

    /// Overwrites a slot; durable on return. Creates the file first if it is missing or has another size.
    static func overwrite(_ path: String, _ index: Int, with bytes: [UInt8]) throws(SystemError) {
        guard (0..<slots).contains(index), bytes.count <= CounterSlot.capacity else {
            throw SystemError("pwrite", code: EINVAL)
        }
        let file = try open(path)
        let head = [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)]
        try file.write(all: head + bytes, at: Int64(blockBytes * (1 + index)))
        try file.synchronizeData()
    }

    private static func open(_ path: String) throws(SystemError) -> Descriptor {
        if Files.exists(path) {
            let file = try Descriptor.open(path, O_WRONLY | O_NOFOLLOW)
            if try file.status().size == blockBytes * (1 + slots) { return file }
        }
        // Writes zeros instead of leaving a hole, so that the disk space is allocated now.
        var blank = [UInt8](repeating: 0, count: blockBytes * (1 + slots))
        blank.replaceSubrange(0..<FileMark.counters.bytes.count, with: FileMark.counters.bytes)
        try Files.replace(path, with: SecretBytes(blank))
        return try Descriptor.open(path, O_WRONLY | O_NOFOLLOW)
    }
}
