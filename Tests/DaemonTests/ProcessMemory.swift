// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The writable memory of another process, stacks and freed memory included, read as a debugger or a core dump would.
struct ProcessMemory {
    private let process: pid_t
    private let file: Descriptor

    /// Opens it; throws where this user may not read the memory of that process.
    init(_ process: pid_t) throws {
        self.process = process
        file = try Descriptor.open("/proc/\(process)/mem", O_RDONLY)
    }

    /// How often any of the sequences stands there.
    func count(of needles: [[UInt8]]) -> Int {
        let longest = needles.map(\.count).max() ?? 0
        let window = SecretBuffer(byteCount: 4 << 20)
        var count = 0
        for region in SecretTrace.writableRegions(of: "\(process)") {
            var start = region.lowerBound
            while start < region.upperBound {
                let length = min(window.byteCount, Int(region.upperBound - start))
                let step = pread(file.number, window.base, length, off_t(start))
                guard step >= longest else { break }
                let isLast = start + UInt(step) >= region.upperBound
                // Windows overlap, so that nothing hides on a border; what begins in the overlap is found next time.
                let fresh = isLast ? step : step - longest + 1
                for needle in needles { count += window.count(of: needle, beginningBefore: fresh, within: step) }
                start += UInt(fresh)
            }
        }
        return count
    }

    /// How often one of the halves of a number stands there, in either order of its bytes: libcrypto keeps the lowest
    /// first, and an allocator may have written over the beginning of a copy.
    func count(ofHalvesOf number: SecretBytes) -> Int {
        let bytes = number.copyBytes()
        let reversed = Array(bytes.reversed())
        let half = bytes.count / 2
        return count(of: [bytes, reversed].flatMap { [Array($0[..<half]), Array($0[half...])] })
    }
}

/// Memory that is wiped when it is no longer used.
private final class SecretBuffer {
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

    func count(of needle: [UInt8], beginningBefore end: Int, within length: Int) -> Int {
        guard let first = needle.first else { return 0 }
        var count = 0
        var offset = 0
        while offset < end, let hit = memchr(base + offset, Int32(first), length - offset) {
            offset = hit - base
            guard offset < end, length - offset >= needle.count else { break }
            if memcmp(hit, needle, needle.count) == 0 { count += 1 }
            offset += 1
        }
        return count
    }
}
