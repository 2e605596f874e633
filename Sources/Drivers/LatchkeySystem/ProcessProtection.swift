// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// Protects the memory of a process with secrets: other processes cannot read it, and it is not dumped to disk or
/// retained after use.
package enum ProcessProtection {
    /// Memory blocks of at least this size return to the kernel as soon as they are freed.
    private static let largeBlockBytes: CInt = 128 << 10

    /// Disables core dumps, and prevents other processes of the same user from attaching to this one or opening its
    /// memory (prctl(2), PR_SET_DUMPABLE; RLIMIT_CORE). Afterwards the process's entries in /proc belong to root.
    package static func enable() throws(SystemError) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(4), &none) == 0 else { throw SystemError("setrlimit") }
        guard latchkey_set_undumpable() == 0 else { throw SystemError("prctl") }
    }

    /// Makes glibc return the memory of a large request or reply to the kernel when it is freed. By default glibc
    /// raises its threshold, and retains blocks of up to 32 MiB, once a block of that size was freed.
    package static func returnLargeBlocks() { _ = latchkey_map_large_blocks(largeBlockBytes) }

    /// Returns freed memory to the kernel, also from between blocks that are in use. Takes up to some milliseconds.
    package static func returnFreedMemory() { latchkey_return_freed_memory() }
}
