// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The public symbols of a module, from the output of `swift symbolgraph-extract`.
package struct SymbolGraph {
    /// One symbol.
    package struct Symbol {
        /// Its declaration in the source, without a body.
        package var declaration: String
        /// Whether it is deprecated.
        package var isDeprecated: Bool
        /// Whether it comes from a protocol's default implementation.
        package var isSynthesized: Bool
        /// Whether it is a method or a property that subclasses in other modules may override.
        package var isOpen: Bool
        /// Whether it is a method or a property, of an instance or of a type.
        package var isMember: Bool
    }
    /// Symbols by their path in the module: `Type.member(label:)`.
    package var symbols: [String: [Symbol]] = [:]
    /// Types by their path, with conformances and superclass, without module names.
    package var types: [String: TypeFact] = [:]

    private struct File: Decodable {
        struct Entry: Decodable {
            struct Identifier: Decodable { var precise: String }
            struct Fragment: Decodable { var spelling: String }
            struct Availability: Decodable { var isUnconditionallyDeprecated: Bool? }
            struct Kind: Decodable { var identifier: String }
            var identifier: Identifier
            var kind: Kind
            var accessLevel: String
            var pathComponents: [String]
            var declarationFragments: [Fragment]?
            var availability: [Availability]?
        }
        struct Relationship: Decodable {
            var kind: String
            var source: String
            var target: String
            var targetFallback: String?
        }
        var symbols: [Entry]
        var relationships: [Relationship]
    }

    private struct ExtractorFailed: Error {
        var status: Int32
    }

    /// Extracts the symbols of a module that was built with the running tests.
    package init(module: String) throws {
        let output = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let arguments = ["swift", "symbolgraph-extract", "-module-name", module] + Repository.moduleOptions
        #if arch(x86_64)
        let target = "x86_64-unknown-linux-gnu"
        #else
        let target = "aarch64-unknown-linux-gnu"
        #endif
        process.arguments =
            arguments + ["-output-dir", output.path, "-minimum-access-level", "public", "-target", target]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ExtractorFailed(status: process.terminationStatus) }
        let data = try Data(contentsOf: URL(filePath: output.path).appending(component: "\(module).symbols.json"))
        let file = try JSONDecoder().decode(File.self, from: data)
        gatherTypes(of: file)
        for entry in file.symbols {
            let declaration = (entry.declarationFragments ?? []).map(\.spelling).joined()
            let isDeprecated = entry.availability?.contains { $0.isUnconditionallyDeprecated == true } ?? false
            symbols[entry.pathComponents.joined(separator: "."), default: []].append(
                Symbol(
                    declaration: declaration, isDeprecated: isDeprecated,
                    isSynthesized: entry.identifier.precise.contains("::SYNTHESIZED::"),
                    isOpen: entry.accessLevel == "open",
                    isMember: Self.memberKinds.contains(entry.kind.identifier)))
        }
    }

    private static let memberKinds: Set<String> = [
        "swift.method", "swift.property", "swift.type.method", "swift.type.property",
    ]

    private mutating func gatherTypes(of file: File) {
        var names: [String: String] = [:]
        for entry in file.symbols {
            let name = entry.pathComponents.joined(separator: ".")
            names[entry.identifier.precise] = name
            guard let kind = TypeFact.Kind(rawValue: String(entry.kind.identifier.dropFirst("swift.".count))) else {
                continue
            }
            let isFinal = (entry.declarationFragments ?? []).contains { $0.spelling == "final" }
            types[name] = TypeFact(name: name, kind: kind, isSubclassed: entry.accessLevel == "open" && !isFinal)
        }
        for relationship in file.relationships {
            guard let source = names[relationship.source] else { continue }
            let target =
                names[relationship.target]
                ?? relationship.targetFallback.map { String($0.drop { $0 != "." }.dropFirst()) } ?? relationship.target
            switch relationship.kind {
            case "conformsTo": types[source]?.conformances.insert(target)
            case "inheritsFrom": types[source]?.superclass = target
            default: break
            }
        }
    }

    /// Normalises a declaration: removes differences that do not matter to clients, and replaces `words` of a module.
    ///
    /// Ignores the attributes of `ignored` below, `override`, and `class` in place of `static`, which only subclasses
    /// can distinguish. Everything else is compared: `@Sendable`, `@escaping`, `async`, `throws`, `static`, `final`,
    /// `inout` and the rest of a declaration.
    package static func normal(_ declaration: String, replacing words: [(String, String)] = []) -> String {
        var text = declaration
        for attribute in ignored { text = text.replacingOccurrences(of: attribute + " ", with: "") }
        let modifiers = [("override ", ""), ("class var", "static var"), ("class func", "static func")]
        for (from, to) in words + modifiers { text = text.replacingOccurrences(of: from, with: to) }
        return text.filter { !$0.isWhitespace }
    }

    /// `@preconcurrency` turns errors about a closure's isolation into warnings and permits overrides without
    /// `@Sendable`; `nonisolated(nonsending)` is added by the compiler to asynchronous methods imported from
    /// Objective-C; `nonisolated(unsafe)` permits reading constants of Foundation's classes from any thread, as for
    /// imported ones. `@discardableResult` is compared by `SecuritySurfaceTests` for functions.
    private static let ignored = [
        "@preconcurrency", "@discardableResult", "nonisolated(nonsending)", "nonisolated(unsafe)",
    ]

    /// The forms of a normalised declaration that are equivalent for clients: a constant for a read-only property,
    /// and an enumeration case for a static property.
    package static func forms(of wanted: String, member: String) -> Set<String> {
        var forms: Set<String> = [wanted]
        let scope = wanted.hasPrefix("static") ? "static" : ""
        let rest = wanted.dropFirst(scope.count)
        if rest.hasPrefix("var"), rest.hasSuffix("{get}") {
            forms.insert(scope + "let" + rest.dropFirst(3).dropLast(5))
            if !scope.isEmpty { forms.insert("case" + member) }
        }
        if rest.hasPrefix("let") { forms.insert(scope + "var" + rest.dropFirst(3) + "{get}") }
        return forms
    }
}
