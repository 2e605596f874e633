// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An item derived from a number: the same number always gives the same account and secret.
struct Item: Sendable {
    /// Length of every secret in bytes.
    static let secretBytes = 256
    /// All items share one service, which is the slower case, because the service alone selects every item.
    static let service = "org.example.bench"

    let number: Int

    /// Accounts are in random order, so that neither side profits from ascending keys.
    var account: String { String(scramble(UInt64(number)), radix: 16) }

    /// The secret after `version` updates.
    func secret(version: Int = 0) -> Data {
        var data = Data(capacity: Item.secretBytes)
        var word = scramble(UInt64(number)) ^ UInt64(version)
        while data.count < Item.secretBytes {
            word = scramble(word)
            withUnsafeBytes(of: word) { data.append(contentsOf: $0) }
        }
        return data
    }
}

/// A bijective hash that maps adjacent numbers far apart (the finaliser of SplitMix64).
func scramble(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
}
