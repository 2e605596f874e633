// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension FoundItem {
    /// The attribute as text, or in hexadecimal if it is not UTF-8; empty if the item does not have it.
    package func text(_ code: AttributeCode) -> String {
        switch attributes?[code] {
        case .text(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? Hexadecimal.encode(bytes)
        default: ""
        }
    }

    /// The name shown to the user: the account, the tag of a key, or else the label.
    package var name: String {
        let names = [text(.account), itemClass == .key ? text(.applicationTag) : "", text(.label)]
        return names.first { !$0.isEmpty } ?? ""
    }

    /// The service, or the server of an internet password.
    package var place: String { itemClass == .internetPassword ? text(.server) : text(.service) }

    /// The item's name in the audit log: bytes 2 to 17 of its persistent reference (`PersistentReference` of the
    /// daemon).
    package var auditName: [UInt8]? {
        guard let reference = persistentReference, reference.count == 34 else { return nil }
        return Array(reference[2..<18])
    }
}
