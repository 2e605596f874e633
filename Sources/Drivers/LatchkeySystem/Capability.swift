// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// A privilege of the kernel (capabilities(7)). Raw values are the kernel's numbers.
package enum Capability: Int32, CaseIterable, Sendable {
    case kill = 5
    case setGroupID = 6
    case setUserID = 7
    case systemTrace = 19

    /// Reduces the permitted, effective and bounding sets of this process to `retained`, clears the inheritable and
    /// ambient sets, and forbids new privileges by executing a program. Called before any thread exists: the sets
    /// belong to threads.
    ///
    /// A child process that changes its user loses all of them, as the kernel defines it.
    package static func retainOnly(_ retained: [Capability]) throws(SystemError) {
        let mask = retained.reduce(0 as UInt64) { $0 | 1 << UInt64($1.rawValue) }
        // The bounding set is reduced first: that needs CAP_SETPCAP, which the next call gives up.
        for number in 0..<64 as Range<Int32> where mask >> UInt64(number) & 1 == 0 {
            // A service manager may have removed it before, together with the privilege to remove it.
            guard latchkey_is_bounding(number) == 1 else { continue }
            guard latchkey_drop_bounding(number) == 0 else { throw SystemError("prctl") }
        }
        try reduce(to: mask)
    }

    /// Gives up every capability that this process has, and those that the programs that it executes would have. Needs
    /// no privilege, unlike the reduction of the bounding set, which has no effect any more afterwards.
    package static func dropAll() throws(SystemError) { try reduce(to: 0) }

    private static func reduce(to mask: UInt64) throws(SystemError) {
        guard latchkey_clear_ambient() == 0 else { throw SystemError("prctl") }
        guard latchkey_set_capabilities(mask) == 0 else { throw SystemError("capset") }
        guard latchkey_forbid_new_privileges() == 0 else { throw SystemError("prctl") }
    }
}
