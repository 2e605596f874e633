// SPDX-License-Identifier: Apache-2.0

/// How many matching items a search returns (Apple: `kSecMatchLimit`).
package enum MatchLimit: Equatable, Sendable {
    /// One item, returned by itself and not in an array: `kSecMatchLimitOne`, the number 1, and the default.
    case one
    /// All items: `kSecMatchLimitAll`.
    case all
    /// At most this number of items, which is 2 or more.
    case first(UInt64)

    /// The limit of a number; nil for 0.
    package init?(_ number: UInt64) {
        switch number {
        case 0: return nil
        case 1: self = .one
        default: self = .first(number)
        }
    }

    /// The largest number of items; nil for `all`.
    package var maximum: UInt64? {
        switch self {
        case .one: 1
        case .all: nil
        case .first(let number): number
        }
    }

    /// Whether a search that has found `count` items is complete.
    package func isReached(by count: some BinaryInteger) -> Bool {
        guard let maximum else { return false }
        return count >= maximum
    }
}
