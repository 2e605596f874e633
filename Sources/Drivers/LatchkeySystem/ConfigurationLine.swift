// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// A line `name = value` of a configuration file; a comment begins with `#`. A line ends with a line feed only.
package struct ConfigurationLine: Equatable, Sendable {
    package let name: String
    /// Empty for a line without a value, and for one that is not UTF-8, both of which no reader understands.
    package let value: String
    /// The line as it was written; escaped if it is not UTF-8.
    package let text: String

    /// The lines of a file that are neither empty nor only a comment, which need not be text.
    package static func lines(_ bytes: [UInt8]) -> [ConfigurationLine] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let parts = line.prefix { $0 != UInt8(ascii: "#") }
                .split(separator: UInt8(ascii: "="), maxSplits: 1)
                .map { $0.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } }
            if parts.allSatisfy(\.isEmpty) { return nil }
            let texts = parts.compactMap { String(validating: $0, as: UTF8.self) }
            guard texts.count == parts.count else {
                return ConfigurationLine(name: "", value: "", text: String(showing: line))
            }
            return ConfigurationLine(
                name: texts[0], value: texts.count > 1 ? texts[1] : "", text: String(showing: line))
        }
    }
}
