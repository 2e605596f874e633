// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A public symbol of Apple's, as given by a line of a table in `Tests/Vectors`.
package struct SurfaceFact {
    /// The type it is a member of; "-" for none.
    package var type: String
    /// Its name with its labels; "-" for the type itself.
    package var member: String
    /// Its Swift declaration; "-" where only the name is known.
    package var declaration: String
    /// Its raw value, where the table has a column for it and Apple documents one.
    package var value: String?
    /// Whether it is deprecated on any of Apple's systems.
    package var isDeprecated: Bool

    /// Its path in the module.
    package var name: String { type == "-" ? member : member == "-" ? type : "\(type).\(symbol)" }

    /// Swift imports some methods with a completion handler as an asynchronous property with another name.
    private var symbol: String {
        guard declaration.hasPrefix("var "), declaration.contains(" async"), member.hasSuffix("(completion:)")
        else {
            return member
        }
        return String(declaration.dropFirst(4).prefix { $0 != ":" })
    }

    /// Reads a table of `Tests/Vectors`: type, member, declaration, perhaps a value, and "deprecated" or "-".
    package static func read(_ file: String) throws -> [SurfaceFact] {
        try String(contentsOf: Repository.vectors(file), encoding: .utf8).split(separator: "\n").dropFirst().map {
            line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard cells.count == 4 || cells.count == 5, let last = cells.last else { throw Malformed(line: line) }
            return SurfaceFact(
                type: cells[0], member: cells[1], declaration: cells[2],
                value: cells.count == 5 && cells[3] != "-" ? cells[3] : nil, isDeprecated: last == "deprecated")
        }
    }

    private struct Malformed: Error {
        var line: Substring
    }
}
