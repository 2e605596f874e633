// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams
import LatchkeyWire

/// The items of a migration that have arrived and are not added yet, sealed under a key that exists in memory only.
///
/// The locked memory has room for few secrets. Sealed, the others cannot get into swap space or a core dump.
package struct HeldItems: Sendable {
    private let key: SymmetricKey
    private let random: any RandomSource
    private var pages: [[UInt8]] = []
    package private(set) var count = 0
    /// Approximate size of the items, in bytes.
    package private(set) var weight = 0

    package init(_ random: any RandomSource) throws(Failure) {
        key = try KeyTree.key(try random.bytes(SymmetricKey.byteCount))
        self.random = random
    }

    /// Adds items; each call seals a page.
    package mutating func add(_ items: [FoundItem]) throws(Failure) {
        guard !items.isEmpty else { return }
        let plain = Message.encoded(.items(items, more: false), id: UInt64(pages.count))
        let nonce = try random.bytes(SymmetricKey.nonceBytes).copyBytes()
        pages.append(try key.seal(plain, nonce: nonce, authenticating: []))
        count += items.count
        weight = items.reduce(weight) { $0 + $1.weight }
    }

    /// Calls `body` with each item, in the order in which they were added; opens one page at a time.
    func visit(_ body: (FoundItem) throws(Failure) -> Void) throws(Failure) {
        for page in pages {
            for item in try items(page) { try body(item) }
        }
    }

    private func items(_ page: [UInt8]) throws(Failure) -> [FoundItem] {
        if let plain = try key.open(page, authenticating: []) {
            do throws(WireError) {
                if case .reply(_, .items(let items, _)) = try Message(decoding: plain) { return items }
            } catch {
                throw Failure(.internalFailure, "The items of a migration cannot be decoded again.", cause: error)
            }
        }
        throw Failure(.internalFailure, "The items of a migration cannot be opened again.")
    }
}
