// SPDX-License-Identifier: Apache-2.0

/// The name of a member of an object. Two names are equal if their bytes are; a `String` also equals one that is canonically
/// equivalent to it, such as one with the Kelvin sign in the place of a K, which is another name in JSON.
package struct JSONName: Hashable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    package static func == (left: JSONName, right: JSONName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
