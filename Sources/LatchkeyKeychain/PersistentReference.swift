// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams

/// `version ‖ class ‖ 16 bytes of the item ‖ 16 bytes of HMAC`: 34 bytes that stay the same across updates.
struct PersistentReference: Sendable {
    private static let version: UInt8 = 1
    let key: AuthenticationKey

    private func code(_ head: [UInt8]) throws(Failure) -> [UInt8] {
        try Array(key.code(CryptographicLabel.reference.bytes + [0] + head)[..<16])
    }

    /// The reference of a row.
    func make(_ row: StoredRow) throws(Failure) -> [UInt8] {
        let head = [Self.version, row.itemClass.rawValue] + row.id
        return head + (try code(head))
    }

    /// The id a reference names; refuses other shapes, and answers nil for one that was not made here.
    func id(_ reference: [UInt8]) throws(Failure) -> [UInt8]? {
        guard reference.count == 34, reference[0] == Self.version, ItemClass(rawValue: reference[1]) != nil else {
            throw Failure(.invalidParameter, "The persistent reference is malformed.")
        }
        let head = Array(reference[..<18])
        guard SecretBytes(try code(head)) == SecretBytes(reference[18...]) else { return nil }
        return Array(reference[2..<18])
    }
}
