// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The items that a backup leaves out, listed for the user.
package struct Staying {
    /// Maximum number of items that are listed; the others are only counted.
    private static let most = 1000
    package private(set) var named: [StayingItem] = []
    package private(set) var count: UInt64 = 0

    package init() {}

    package mutating func add(_ more: StayingItems) {
        count += more.count
        named += more.named.prefix(max(0, Self.most - named.count))
    }
}
