// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

/// The last 16 bytes of a secret, kept masked so that remembering them is no copy.
///
/// The last ones, since an allocator writes over the first of what it takes back.
struct SecretTrace: Sendable {
    static let byteCount = 16
    private static let mask: UInt8 = 0xa5
    private let masked: [UInt8]

    /// Remembers a secret of at least 32 bytes.
    init(of secret: SecretBytes) {
        precondition(secret.count >= 2 * Self.byteCount)
        masked = secret.withBytes { bytes in
            (bytes.count - Self.byteCount..<bytes.count).map { bytes[$0] ^ Self.mask }
        }
    }

    /// A secret that exists nowhere else: its bytes are computed where they are kept.
    static func makeSecret(byteCount: Int = 32) -> SecretBytes {
        var seed = UInt64.random(in: 1...UInt64.max)
        return SecretBytes(count: byteCount) { target in
            for index in 0..<byteCount {
                seed ^= seed << 13
                seed ^= seed >> 7
                seed ^= seed << 17
                target[index] = UInt8(truncatingIfNeeded: seed >> 24)
            }
        }
    }

    /// How often the bytes stand in this process's writable memory, freed memory included, but for the stack of
    /// this thread, where libraries spill registers; nil when it cannot be read.
    ///
    /// It is read through the kernel, as a debugger or a core dump would: following a pointer to freed memory is
    /// undefined. Other threads may overwrite freed memory before it is looked at, so a copy can be missed, but a
    /// copy that is found is one.
    func copiesInMemory() -> Int? {
        // One search at a time in the whole process, in every module that compiles this file: the memory that one
        // search reads into would hold what another one looks for.
        let turn = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard turn >= 0, flock(turn, LOCK_EX) == 0 else { return nil }
        defer { close(turn) }
        let file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let needle = Scratch(byteCount: Self.byteCount)
        let window = Scratch(byteCount: 1 << 20)
        for (index, byte) in masked.enumerated() {
            needle.base.storeBytes(of: byte ^ Self.mask, toByteOffset: index, as: UInt8.self)
        }
        var count = 0
        var local: UInt8 = 0
        let stack = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
        for region in Self.writableRegions() where !region.contains(stack) {
            var start = region.lowerBound
            while start < region.upperBound {
                let length = min(window.byteCount, Int(region.upperBound - start))
                let read = pread(file, window.base, length, off_t(start))
                guard read >= Self.byteCount else { break }
                count += window.offsets(of: needle, within: read).count {
                    !needle.contains(start + $0) && !window.contains(start + $0)
                }
                // Windows overlap, so that no copy hides on a border.
                start += UInt(start + UInt(read) < region.upperBound ? read - Self.byteCount + 1 : read)
            }
        }
        return count
    }

    /// The writable memory of a process, by its number.
    static func writableRegions(of process: String = "self") -> [Range<UInt>] {
        guard let maps = fopen("/proc/\(process)/maps", "re") else { return [] }
        defer { fclose(maps) }
        var regions: [Range<UInt>] = []
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), maps) != nil {
            let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(separator: " ")
            guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2 else { continue }
            // The list is not read at one instant: a region that grew meanwhile may come twice.
            let start = max(bounds[0], regions.last?.upperBound ?? 0)
            if start < bounds[1] { regions.append(start..<bounds[1]) }
        }
        return regions
    }
}

/// Memory of the search itself, wiped at its end.
private final class Scratch {
    let base: UnsafeMutableRawPointer
    let byteCount: Int

    init(byteCount: Int) {
        self.byteCount = byteCount
        base = .allocate(byteCount: byteCount, alignment: 16)
    }

    deinit {
        explicit_bzero(base, byteCount)
        base.deallocate()
    }

    /// Whether the address lies in this memory.
    func contains(_ address: UInt) -> Bool {
        let start = UInt(bitPattern: base)
        return start <= address && address < start + UInt(byteCount)
    }

    /// Where the bytes of `needle` stand in the first `count` bytes.
    func offsets(of needle: Scratch, within count: Int) -> [UInt] {
        var offsets: [UInt] = []
        let first = Int32(needle.base.load(as: UInt8.self))
        let last = base + (count - needle.byteCount)
        var position = base
        while position <= last, let hit = memchr(position, first, last - position + 1) {
            if memcmp(hit, needle.base, needle.byteCount) == 0 { offsets.append(UInt(hit - base)) }
            position = hit + 1
        }
        return offsets
    }
}
