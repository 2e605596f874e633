// SPDX-License-Identifier: Apache-2.0

/// A line `name = value` of a configuration file; a comment begins with `#`.
package struct ConfigurationLine: Equatable, Sendable {
    package let name: String
    /// Empty for a line without a value, which no reader understands.
    package let value: String
    /// The line as it was written.
    package let text: String

    /// The lines of a file that are neither empty nor only a comment.
    package static func lines(_ bytes: [UInt8]) -> [ConfigurationLine] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let text = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            let parts = text.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
            if parts.allSatisfy(\.isEmpty) { return nil }
            return ConfigurationLine(name: parts[0], value: parts.count > 1 ? parts[1] : "", text: String(line))
        }
    }
}
