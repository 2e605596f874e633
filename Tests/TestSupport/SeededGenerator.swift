// SPDX-License-Identifier: Apache-2.0

/// A deterministic generator, equal on every machine for the same seed: SplitMix64 (Steele, Lea and Flood, 2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator with this seed.
    package init(seed: UInt64) { state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// The next number in `0..<bound`; 0 when the bound is not positive.
    package mutating func next(below bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
}
