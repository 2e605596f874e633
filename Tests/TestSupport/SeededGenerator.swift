// SPDX-License-Identifier: Apache-2.0

/// Numbers that are the same for the same seed in every run, on every machine: SplitMix64 (Steele, Lea and Flood, 2014).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Begins the numbers of a seed.
    package init(seed: UInt64) { state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// The next number from 0 up to a bound, which is not among them; 0 where the bound leaves none.
    package mutating func next(below bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
}
