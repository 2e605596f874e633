// SPDX-License-Identifier: Apache-2.0

extension Sequence<UInt8> {
    /// FNV-1a with 64 bits: tells values apart that no attacker chooses.
    package var shortHash: UInt64 {
        reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
