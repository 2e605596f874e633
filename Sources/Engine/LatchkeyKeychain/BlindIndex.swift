// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// Blind indexes: keyed hashes by which the database finds rows without decrypting them. Each is 16 bytes of an HMAC.
struct BlindIndex: Sendable {
    let key: AuthenticationKey

    private func index(_ name: String, _ itemClass: ItemClass, _ values: [AttributeValue]) throws(Failure) -> [UInt8] {
        var writer = CBORWriter()
        writer.array(2 + values.count)
        writer.text(name)
        writer.unsigned(UInt64(itemClass.rawValue))
        for value in values { writer.attribute(value.compared) }
        return try Array(key.code(writer.finishBytes())[..<16])
    }

    /// Index of an item's primary key; missing attributes count as empty.
    func primaryKey(_ attributes: Attributes, _ itemClass: ItemClass) throws(Failure) -> [UInt8] {
        try index("key", itemClass, itemClass.primaryKey.map { attributes[$0] ?? ItemClass.emptyValue($0) })
    }

    func group(_ group: String, _ itemClass: ItemClass) throws(Failure) -> [UInt8] {
        try index("group", itemClass, [.text(group)])
    }

    /// Index of all items of a class and a group with that value; nil when the value is absent.
    func attribute(
        _ code: AttributeCode, _ value: AttributeValue?, group: String, _ itemClass: ItemClass
    ) throws(Failure) -> [UInt8]? {
        guard let value else { return nil }
        return try index("attribute \(code.rawValue)", itemClass, [.text(group), value])
    }

    /// Index of a pair of an item of the Secret Service, 8 bytes: a program finds its items by any of their pairs. Items with
    /// the same pair have the same index, also those of different programs.
    func pair(_ pair: SecretPairs.Pair) throws(Failure) -> [UInt8] {
        try Array(index("pair", .secret, [.text(pair.name), .text(pair.value)])[..<8])
    }

    func fill(_ row: inout StoredRow, _ item: Item) throws(Failure) {
        row.primaryKey = try primaryKey(item.attributes, row.itemClass)
        row.group = try group(item.accessGroup, row.itemClass)
        var indexes: [[UInt8]?] = []
        for code in row.itemClass.indexed {
            indexes.append(try attribute(code, item.attributes[code], group: item.accessGroup, row.itemClass))
        }
        row.indexes = indexes
        row.pairs = []
        for pair in item.pairs.all { row.pairs.append(try self.pair(pair)) }
    }
}
