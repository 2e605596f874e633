// SPDX-License-Identifier: Apache-2.0

internal import CLatchkeyLinux
internal import Glibc
import Synchronization

/// Allocates the memory of secrets: in pages that are excluded from swap and core dumps after `lock` succeeded, and on
/// the heap otherwise.
///
/// The locked pages are an arena with a fixed number of slots in three sizes, because the memory that a user may lock
/// is small (`RLIMIT_MEMLOCK`, usually 8 MiB). A secret that is larger than the largest slot, or for which no slot is
/// free, is on the heap; `missedCount` counts the latter. A page takes memory from the first use of one of its slots on.
package enum SecretMemory {
    /// The sizes of slots, and their number in the largest arena.
    private static let sizes = [(bytes: 64, count: 4096), (bytes: 256, count: 1024), (bytes: 1024, count: 512)]
    /// Divisors of the slot counts, tried in order until the kernel allows the arena to be locked.
    private static let divisors = [1, 4, 16]

    /// The slots of one size, at adjacent addresses.
    private struct Slots {
        let bytes: Int
        /// The address of the first slot that was never in use.
        var unused: UInt
        /// The address behind the last slot.
        let end: UInt
        /// The last slot that was released, or 0; each free slot begins with the address of the next one.
        var free: UInt = 0

        /// Takes a slot, all of whose bytes are zero; nil if none is free.
        mutating func take() -> UnsafeMutableRawPointer? {
            if let slot = UnsafeMutableRawPointer(bitPattern: free) {
                free = slot.load(as: UInt.self)
                // The rest of a free slot is zero.
                slot.storeBytes(of: 0, as: UInt.self)
                return slot
            }
            guard unused < end else { return nil }
            defer { unused += UInt(bytes) }
            return UnsafeMutableRawPointer(bitPattern: unused)
        }

        mutating func putBack(_ slot: UnsafeMutableRawPointer) {
            slot.storeBytes(of: free, as: UInt.self)
            free = UInt(bitPattern: slot)
        }
    }

    private struct Arena {
        /// From the smallest size to the largest, in the order of their addresses.
        var slots: [Slots] = []
        var missed: UInt64 = 0
    }

    private static let arena = Mutex(Arena())
    // The bounds of the arena, both 0 if there is none. `lock` writes them once; `end` first, so that a thread that
    // reads a non-zero `start` also reads the final `end`.
    private static let start = Atomic(UInt(0))
    private static let end = Atomic(UInt(0))

    /// Maps and locks the arena for secrets that are allocated from now on. To be called once, early in the process.
    ///
    /// - Returns: the system's error text if no arena could be locked; nil on success.
    package static func lock() -> String? {
        guard start.load(ordering: .acquiring) == 0 else { return nil }
        var code: CInt = 0
        for divisor in divisors {
            code = map(divisor)
            if code == 0 { return nil }
        }
        return String(cString: strerror(code))
    }

    /// Number of secrets allocated so far on the heap because no slot was free.
    package static var missedCount: UInt64 { arena.withLock { $0.missed } }

    private static func map(_ divisor: Int) -> CInt {
        let page = Int(getpagesize())
        let bytes = sizes.reduce(0) { $0 + $1.bytes * $1.count } / divisor
        let length = (bytes + page - 1) / page * page
        // One inaccessible guard page on each side, so that an overrun of adjacent memory cannot reach a secret.
        guard let whole = mmap(nil, length + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            whole != MAP_FAILED
        else { return errno }
        let base = whole + page
        guard mprotect(base, length, PROT_READ | PROT_WRITE) == 0, lockPages(base, length) == 0,
            madvise(base, length, MADV_DONTDUMP) == 0
        else {
            let code = errno
            munmap(whole, length + 2 * page)
            return code
        }
        arena.withLock { arena in
            var address = UInt(bitPattern: base)
            for (bytes, count) in sizes {
                let end = address + UInt(bytes * (count / divisor))
                arena.slots.append(Slots(bytes: bytes, unused: address, end: end))
                address = end
            }
        }
        end.store(UInt(bitPattern: base) + UInt(length), ordering: .relaxed)
        start.store(UInt(bitPattern: base), ordering: .releasing)
        return 0
    }

    /// Locks pages, each of them when it is used for the first time if the kernel can do that (Linux 4.4).
    private static func lockPages(_ base: UnsafeMutableRawPointer, _ length: Int) -> CInt {
        let code = latchkey_lock_on_first_use(base, length)
        return code != 0 && errno == ENOSYS ? mlock(base, length) : code
    }

    /// Allocates `count` bytes, all zero.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        if start.load(ordering: .acquiring) != 0, let slot = takeSlot(count) { return slot }
        let base = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
        memset(base, 0, max(count, 1))
        return base
    }

    private static func takeSlot(_ count: Int) -> UnsafeMutableRawPointer? {
        let address = arena.withLock { arena in
            for index in arena.slots.indices where count <= arena.slots[index].bytes {
                if let slot = arena.slots[index].take() { return UInt(bitPattern: slot) }
            }
            if let largest = arena.slots.last, count <= largest.bytes { arena.missed += 1 }
            return 0
        }
        return UnsafeMutableRawPointer(bitPattern: address)
    }

    /// Overwrites and releases memory of `allocate`.
    static func free(_ base: UnsafeMutableRawPointer, _ count: Int) {
        // An optimiser may drop a plain memset of memory that is about to be freed.
        explicit_bzero(base, max(count, 1))
        let address = UInt(bitPattern: base)
        guard address >= start.load(ordering: .relaxed), address < end.load(ordering: .relaxed) else {
            return base.deallocate()
        }
        arena.withLock { arena in
            guard let index = arena.slots.firstIndex(where: { address < $0.end }) else { return }
            arena.slots[index].putBack(base)
        }
    }
}

/// A mutable buffer of fixed size for a secret that is being typed or assembled; overwritten when the last reference is
/// released.
package final class SecretBuffer {
    private let base: UnsafeMutableRawPointer
    /// Size of the buffer in bytes.
    package let capacity: Int

    /// Allocates a buffer of `capacity` zero bytes.
    package init(capacity: Int) {
        self.capacity = capacity
        base = SecretMemory.allocate(capacity)
    }

    deinit { SecretMemory.free(base, capacity) }

    /// Calls `body` with the memory; the pointer must not escape the closure.
    package func withBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
        body(UnsafeMutableRawBufferPointer(start: base, count: capacity))
    }

    package func wipe() { explicit_bzero(base, capacity) }
}
