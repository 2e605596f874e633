// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A public type of Apple or of this project.
package struct TypeFact {
    /// The kinds of types that are compared.
    package enum Kind: String { case `class`, `enum`, `struct` }

    /// Its path in the module.
    package var name: String
    /// Its kind.
    package var kind: Kind
    /// Whether apps can subclass it.
    package var isSubclassed = false
    /// The class it inherits from.
    package var superclass: String?
    /// Its conformances, including those of its superclass.
    package var conformances: Set<String> = []

    /// Conformances that are not compared: those that all types of a kind have, and those to protocols of frameworks
    /// that do not exist here. Whether an enumeration is frozen and the actor isolation of classes are not compared
    /// either: no type of Apple's here is isolated to an actor.
    private static let ignored: Set<String> = [
        "BitwiseCopyable", "CVarArg", "Copyable", "Escapable", "Observable", "ObservableObject", "SendableMetatype",
        // Allows catching an error as the structure that Apple's importer creates for it.
        "_ObjectiveCBridgeable",
    ]

    /// The conformances that are compared.
    package var compared: Set<String> { conformances.subtracting(Self.ignored) }

    /// Reads a table of `Tests/Vectors`: name, kind, superclass or "-", "made" where apps can create instances (and
    /// so can subclass it), conformances.
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
