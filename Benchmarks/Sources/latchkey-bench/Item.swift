// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The item of a number: always the same account and secret for the same number.
struct Item: Sendable {
    /// Bytes of every secret.
    static let secretBytes = 256
    /// One service with many accounts is the harder case: the service alone narrows nothing.
    static let service = "org.example.bench"

    let number: Int

    /// Accounts come in no order, so that no side gains from keys that only grow.
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

/// Mixes a number so that neighbours end far apart; no two numbers give the same (the finaliser of SplitMix64).
func scramble(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
}
