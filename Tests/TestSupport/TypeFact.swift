// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One public type of Apple's, or of ours.
package struct TypeFact {
    /// What kind of type; others are not compared.
    package enum Kind: String { case `class`, `enum`, `struct` }

    /// Its path in the module.
    package var name: String
    /// Its kind.
    package var kind: Kind
    /// Whether apps can subclass it.
    package var isSubclassed = false
    /// The class it inherits from.
    package var superclass: String?
    /// What it conforms to, by itself or by its superclass.
    package var conformances: Set<String> = []

    /// Not compared: what every type of the kind has, and what comes from frameworks that do not exist here. Whether an
    /// enumeration is frozen is not compared either, nor what actors a class belongs to: no type of Apple's here does.
    private static let ignored: Set<String> = [
        "BitwiseCopyable", "CVarArg", "Copyable", "Escapable", "Observable", "ObservableObject", "SendableMetatype",
        // Lets an error be caught as the structure that Apple's importer makes of it.
        "_ObjectiveCBridgeable",
    ]

    /// The conformances that are compared.
    package var compared: Set<String> { conformances.subtracting(Self.ignored) }

    /// Reads a table of `Tests/Vectors`: name, kind, superclass or "-", "made" where apps can make one (and so subclass it),
    /// conformances.
    package static func read(_ file: String) throws -> [TypeFact] {
        try String(contentsOf: Repository.vectors(file), encoding: .utf8).split(separator: "\n").dropFirst().map {
            line in
            let cells = line.split(separator: "\t").map(String.init)
            guard cells.count == 5, let kind = Kind(rawValue: cells[1]) else { throw Malformed(line: line) }
            return TypeFact(
                name: cells[0], kind: kind, isSubclassed: kind == .class && cells[3] == "made",
                superclass: cells[2] == "-" ? nil : cells[2],
                conformances: Set(cells[4].split(separator: " ").map(String.init)))
        }
    }

    private struct Malformed: Error {
        var line: Substring
    }
}
