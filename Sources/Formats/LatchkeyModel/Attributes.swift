// SPDX-License-Identifier: Apache-2.0

/// The attributes of an item or of a query, sorted by raw value, which is their order on the wire.
///
/// The attributes are stored in a sorted array: for about a dozen entries a linear search takes a tenth of the time of
/// a hash table, and reading, comparing and encoding need no sort.
package struct Attributes: Sendable {
    package typealias Element = (key: AttributeCode, value: AttributeValue)

    private var elements: [Element] = []

    /// Creates an empty collection with room for `minimumCapacity` attributes.
    package init(minimumCapacity: Int = 0) { if minimumCapacity > 0 { elements.reserveCapacity(minimumCapacity) } }

    /// The value of an attribute; nil if it is absent. Assigning nil removes the attribute.
    package subscript(code: AttributeCode) -> AttributeValue? {
        get {
            let place = place(of: code)
            return holds(code, at: place) ? elements[place].value : nil
        }
        set {
            let place = place(of: code)
            switch (holds(code, at: place), newValue) {
            case (true, let value?): elements[place].value = value
            case (true, nil): elements.remove(at: place)
            case (false, let value?): elements.insert((code, value), at: place)
            case (false, nil): break
            }
        }
    }

    /// The index at which the attribute is, or at which it must be inserted.
    ///
    /// Decoded attributes arrive in order, so the position behind the last entry is tested first.
    private func place(of code: AttributeCode) -> Int {
        guard let last = elements.last, last.key.rawValue >= code.rawValue else { return elements.count }
        return elements.firstIndex { $0.key.rawValue >= code.rawValue } ?? elements.count
    }

    private func holds(_ code: AttributeCode, at place: Int) -> Bool {
        place < elements.count && elements[place].key == code
    }

    /// Calls `body` with each attribute, in ascending order of codes. In another module, an iterator costs several calls
    /// through a witness table for each attribute; this loop is compiled with the array's type.
    package func forEachInOrder(_ body: (AttributeCode, AttributeValue) -> Void) {
        for (code, value) in elements { body(code, value) }
    }

    /// The codes of all present attributes, in order.
    package var keys: some Sequence<AttributeCode> { elements.lazy.map(\.key) }

    /// The values of all present attributes, in the order of `keys`.
    package var values: some Sequence<AttributeValue> { elements.lazy.map(\.value) }

    /// Sets every attribute of `other`; existing values are overwritten.
    package mutating func merge(_ other: Attributes) { for (code, value) in other { self[code] = value } }

    /// Returns a copy with every attribute of `other` set; values of `other` replace existing ones.
    package func merging(_ other: Attributes) -> Attributes {
        var merged = self
        merged.merge(other)
        return merged
    }

    /// Returns the attributes for which `isIncluded` returns true.
    package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> Attributes {
        var result = self
        result.elements = try elements.filter(isIncluded)
        return result
    }
}

extension Attributes: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { elements.count }
    // The default implementation calls through a witness table.
    package var count: Int { elements.count }
    package subscript(position: Int) -> Element { elements[position] }
}

extension Attributes: Hashable {
    package static func == (one: Attributes, other: Attributes) -> Bool {
        one.elements.elementsEqual(other.elements) { $0.key == $1.key && $0.value == $1.value }
    }

    package func hash(into hasher: inout Hasher) {
        for (code, value) in elements {
            hasher.combine(code)
            hasher.combine(value)
        }
    }
}

extension Attributes: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (AttributeCode, AttributeValue)...) {
        for (code, value) in elements { self[code] = value }
    }
}
