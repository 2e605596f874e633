// SPDX-License-Identifier: Apache-2.0

package import Glibc
package import LatchkeyModel
import LatchkeySystem
import Synchronization

/// Searches the writable memory of a process, including freed memory. Reads through the kernel, as a debugger does,
/// because dereferencing a pointer to freed memory is undefined.
package struct ProcessMemory {
    /// Serialises searches of this process: the buffer of one search would contain what another one searches for.
    private static let turn = Mutex(())

    /// The process id; nil for this process.
    private let process: pid_t?
    private let file: Descriptor

    private var folder: String { Self.folder(process) }

    private static func folder(_ process: pid_t?) -> String { process.map { "/proc/\($0)" } ?? "/proc/self" }

    /// Opens the memory of another process, or of this one; throws where this user may not read it.
    package init(_ process: pid_t? = nil) throws {
        self.process = process
        file = try Descriptor.open(Self.folder(process) + "/mem", O_RDONLY)
    }

    /// Counts the occurrences of the sequences.
    package func count(of needles: [[UInt8]]) -> Int { count(of: needles.map(WipedMemory.init)) }

    /// Counts the occurrences of either half of a number, in either byte order: libcrypto stores the lowest byte
    /// first, and an allocator may have overwritten the beginning of a copy.
    package func count(ofHalvesOf number: SecretBytes) -> Int {
        let bytes = number.copyBytes()
        let reversed = Array(bytes.reversed())
        let half = bytes.count / 2
        return count(of: [bytes, reversed].flatMap { [Array($0[..<half]), Array($0[half...])] })
    }

    /// Counts the occurrences of the sequences; in this process, excludes the search's own memory and the stack of
    /// this thread, to which libraries spill registers.
    package func count(of needles: [WipedMemory]) -> Int { count(of: needles, in: nil) }

    /// Counts the occurrences of the sequences in these regions, or in all current regions; other threads may map and
    /// unmap memory meanwhile.
    package func count(of needles: [WipedMemory], in regions: [Range<UInt>]?) -> Int {
        guard process == nil else { return search(for: needles, in: regions ?? writableRegions()) }
        return Self.turn.withLock { _ in search(for: needles, in: regions ?? writableRegions()) }
    }

    private func search(for needles: [WipedMemory], in regions: [Range<UInt>]) -> Int {
        let longest = needles.map(\.byteCount).max() ?? 0
        let window = WipedMemory(byteCount: 1 << 20)
        let search = process == nil ? needles + [window] : []
        let page = UInt(getpagesize())
        var count = 0
        for region in regions {
            var start = region.lowerBound
            while start < region.upperBound {
                let length = min(window.byteCount, Int(region.upperBound - start))
                let step = pread(file.number, window.base, length, off_t(start))
                guard step > 0, step >= longest else {
                    // A page that was unmapped since the regions were listed: continues with the next page.
                    start = (start + UInt(max(step, 0))) / page * page + page
                    continue
                }
                let isLast = start + UInt(step) >= region.upperBound
                // Windows overlap, so that a match across their border is found; one that begins in the overlap is
                // found in the next.
                let fresh = isLast ? step : step - longest + 1
                for needle in needles {
                    count += window.offsets(of: needle, beginningBefore: fresh, within: step).count { offset in
                        !search.contains { $0.contains(start + offset) }
                    }
                }
                start += UInt(fresh)
            }
        }
        return count
    }

    /// The writable regions of the process; without the stack of this thread if it is this process.
    package func writableRegions() -> [Range<UInt>] {
        let regions = listedRegions()
        guard process == nil else { return regions }
        // The kernel merges adjacent regions: only the part outside the stack is searched.
        let stack = stackOfThisThread()
        return regions.flatMap { region in
            [
                region.lowerBound..<max(region.lowerBound, min(region.upperBound, stack.lowerBound)),
                min(region.upperBound, max(region.lowerBound, stack.upperBound))..<region.upperBound,
            ].filter { !$0.isEmpty }
        }
    }

    private func listedRegions() -> [Range<UInt>] {
        guard let maps = fopen(folder + "/maps", "re") else { return [] }
        defer { fclose(maps) }
        var regions: [Range<UInt>] = []
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), maps) != nil {
            let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(separator: " ")
            guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2 else { continue }
            // The list is not read atomically: a region that grew meanwhile may appear twice.
            let start = max(bounds[0], regions.last?.upperBound ?? 0)
            if start < bounds[1] { regions.append(start..<bounds[1]) }
        }
        return regions
    }
}
