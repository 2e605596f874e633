// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams

/// Persistent references: `version ‖ class ‖ 16 bytes of item identifier ‖ 16 bytes of HMAC`, 34 bytes that do not
/// change when the item is updated.
struct PersistentReference: Sendable {
    private static let version: UInt8 = 1
    let key: AuthenticationKey

    private func code(_ head: [UInt8]) throws(Failure) -> [UInt8] {
        try Array(key.code(CryptographicLabel.reference.bytes + [0] + head)[..<16])
    }

    func make(_ row: StoredRow) throws(Failure) -> [UInt8] {
        let head = [Self.version, row.itemClass.rawValue] + row.id
        return head + (try code(head))
    }

    /// Returns the identifier in a reference; nil when its HMAC does not match. Throws `invalidParameter` for a
    /// malformed one.
    func id(_ reference: [UInt8]) throws(Failure) -> [UInt8]? {
        guard reference.count == 34, reference[0] == Self.version, ItemClass(rawValue: reference[1]) != nil else {
            throw Failure(.invalidParameter, "The persistent reference is malformed.")
        }
        let head = Array(reference[..<18])
        guard SecretBytes(try code(head)) == SecretBytes(reference[18...]) else { return nil }
        return Array(reference[2..<18])
    }
}
