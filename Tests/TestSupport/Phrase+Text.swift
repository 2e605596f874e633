// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The English text, of which a test knows a part.
extension Phrase {
    package func contains(_ text: String) -> Bool { description.contains(text) }
    package func hasPrefix(_ text: String) -> Bool { description.hasPrefix(text) }
    package func hasSuffix(_ text: String) -> Bool { description.hasSuffix(text) }
}
