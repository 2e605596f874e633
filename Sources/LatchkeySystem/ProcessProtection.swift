// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// What keeps the memory of a process that holds secrets from being read, written to a disk, or kept for long.
package enum ProcessProtection {
    /// Blocks of memory from this size on go back to the kernel as soon as they are freed.
    private static let largeBlockBytes: CInt = 128 << 10

    /// Keeps other processes of the same user from attaching to this one or opening its memory, and a crash from
    /// writing it to a file (prctl(2), PR_SET_DUMPABLE; RLIMIT_CORE). The process's entries in /proc belong to root
    /// afterwards.
    package static func enable() throws(SystemError) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(4), &none) == 0 else { throw SystemError("setrlimit") }
        guard latchkey_set_undumpable() == 0 else { throw SystemError("prctl") }
    }

    /// Whether other processes of the same user may read this one.
    package static var isReadable: Bool { latchkey_is_dumpable() != 0 }

    /// Makes the memory of a large request or answer go back to the kernel with it: by default glibc keeps blocks of up
    /// to 32 MiB for later once one of that size was freed.
    package static func returnLargeBlocks() { _ = latchkey_map_large_blocks(largeBlockBytes) }
}
