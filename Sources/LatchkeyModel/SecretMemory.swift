// SPDX-License-Identifier: Apache-2.0

internal import Glibc
import Synchronization

/// Where the bytes of secrets are: in pages that are neither swapped nor dumped, once a process has asked for them, and
/// else on the heap.
///
/// A fixed number of slots in three sizes, because the memory that a user may lock is small (`RLIMIT_MEMLOCK`, usually
/// 8 MiB). A secret that is larger than a slot, or finds none, is on the heap; the latter is counted and reported.
package enum SecretMemory {
    /// Bytes of a slot, and how many there are in the largest arena.
    private static let sizes = [(bytes: 64, count: 4096), (bytes: 256, count: 1024), (bytes: 1024, count: 512)]
    /// The arena is made smaller by these until the kernel lets it be locked.
    private static let divisors = [1, 4, 16]

    private struct Arena {
        var ends: [UInt] = []
        /// The first free slot of each size; a free slot holds the address of the next one.
        var free: [UInt] = []
        var missed: UInt64 = 0
    }

    private static let arena = Mutex(Arena())
    /// The first address and the one behind the last; 0 without an arena. Written once, before other threads matter.
    private static let start = Atomic(UInt(0))
    private static let end = Atomic(UInt(0))

    /// Locks memory for secrets that are made from now on. To be called once, early.
    ///
    /// - Returns: why it could not be locked; nil when it was.
    package static func lock() -> String? {
        guard start.load(ordering: .acquiring) == 0 else { return nil }
        var code: CInt = 0
        for divisor in divisors {
            code = map(divisor)
            if code == 0 { return nil }
        }
        return String(cString: strerror(code))
    }

    /// Secrets that found no slot and are on the heap, or were.
    package static var missedCount: UInt64 { arena.withLock { $0.missed } }

    private static func map(_ divisor: Int) -> CInt {
        let page = Int(getpagesize())
        let bytes = sizes.reduce(0) { $0 + $1.bytes * $1.count } / divisor
        let length = (bytes + page - 1) / page * page
        // One page before and one behind that cannot be touched: no overrun of a neighbour reaches a secret.
        guard let whole = mmap(nil, length + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            whole != MAP_FAILED
        else { return errno }
        let base = whole + page
        guard mprotect(base, length, PROT_READ | PROT_WRITE) == 0, mlock(base, length) == 0,
            madvise(base, length, MADV_DONTDUMP) == 0
        else {
            let code = errno
            munmap(whole, length + 2 * page)
            return code
        }
        arena.withLock { arena in
            var slot = base
            for (bytes, count) in sizes {
                var first: UInt = 0
                for _ in 0..<count / divisor {
                    slot.storeBytes(of: first, as: UInt.self)
                    first = UInt(bitPattern: slot)
                    slot += bytes
                }
                arena.free.append(first)
                arena.ends.append(UInt(bitPattern: slot))
            }
        }
        end.store(UInt(bitPattern: base) + UInt(length), ordering: .relaxed)
        start.store(UInt(bitPattern: base), ordering: .releasing)
        return 0
    }

    /// Memory for `count` bytes, all zero.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        if start.load(ordering: .acquiring) != 0, let slot = takeSlot(count) { return slot }
        let base = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
        memset(base, 0, max(count, 1))
        return base
    }

    private static func takeSlot(_ count: Int) -> UnsafeMutableRawPointer? {
        let address = arena.withLock { arena in
            for (index, size) in sizes.enumerated() where count <= size.bytes {
                let first = arena.free[index]
                guard let slot = UnsafeMutableRawPointer(bitPattern: first) else { continue }
                arena.free[index] = slot.load(as: UInt.self)
                // The rest of a free slot is zero.
                slot.storeBytes(of: 0, as: UInt.self)
                return first
            }
            if let largest = sizes.last, count <= largest.bytes { arena.missed += 1 }
            return 0
        }
        return UnsafeMutableRawPointer(bitPattern: address)
    }

    /// Wipes memory that `allocate` gave and takes it back.
    static func free(_ base: UnsafeMutableRawPointer, _ count: Int) {
        // An optimiser may drop a plain memset of memory that is about to be freed.
        explicit_bzero(base, max(count, 1))
        let address = UInt(bitPattern: base)
        guard address >= start.load(ordering: .relaxed), address < end.load(ordering: .relaxed) else {
            return base.deallocate()
        }
        arena.withLock { arena in
            guard let index = arena.ends.firstIndex(where: { address < $0 }) else { return }
            base.storeBytes(of: arena.free[index], as: UInt.self)
            arena.free[index] = address
        }
    }
}

/// A secret while it is typed or put together: memory of a fixed size that is wiped with the last reference.
package final class SecretBuffer {
    private let base: UnsafeMutableRawPointer
    /// Bytes it has room for.
    package let capacity: Int

    /// Makes room, all zero.
    package init(capacity: Int) {
        self.capacity = capacity
        base = SecretMemory.allocate(capacity)
    }

    deinit { SecretMemory.free(base, capacity) }

    /// Lends the memory to `body`; the pointer must not leave it.
    package func withBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
        body(UnsafeMutableRawBufferPointer(start: base, count: capacity))
    }

    /// Overwrites it with zeros.
    package func wipe() { explicit_bzero(base, capacity) }
}
