// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The public symbols of a module, as the toolchain's extractor writes them.
package struct SymbolGraph {
    /// One symbol.
    package struct Symbol {
        /// As it stands in the source, without its body.
        package var declaration: String
        /// Whether each use of it is a warning.
        package var isDeprecated: Bool
        /// Whether it comes from a protocol's default implementation.
        package var isSynthesized: Bool
    }
    /// Symbols by their path in the module: `Type.member(label:)`.
    package var symbols: [String: [Symbol]] = [:]

    private struct File: Decodable {
        struct Entry: Decodable {
            struct Identifier: Decodable { var precise: String }
            struct Fragment: Decodable { var spelling: String }
            struct Availability: Decodable { var isUnconditionallyDeprecated: Bool? }
            var identifier: Identifier
            var pathComponents: [String]
            var declarationFragments: [Fragment]?
            var availability: [Availability]?
        }
        var symbols: [Entry]
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
        for entry in try JSONDecoder().decode(File.self, from: data).symbols {
            let declaration = (entry.declarationFragments ?? []).map(\.spelling).joined()
            let isDeprecated = entry.availability?.contains { $0.isUnconditionallyDeprecated == true } ?? false
            symbols[entry.pathComponents.joined(separator: "."), default: []].append(
                Symbol(
                    declaration: declaration, isDeprecated: isDeprecated,
                    isSynthesized: entry.identifier.precise.contains("::SYNTHESIZED::")))
        }
    }

    /// A declaration without what says the same in other words, and with the words of a module replaced.
    package static func normal(_ declaration: String, replacing words: [(String, String)] = []) -> String {
        var text = declaration.replacingOccurrences(of: #"@\w+(\([^)]*\))?"#, with: "", options: .regularExpression)
        let modifiers = [
            ("override ", ""), ("final ", ""), ("class var", "var"), ("class func", "func"), ("static ", ""),
        ]
        for (from, to) in words + modifiers { text = text.replacingOccurrences(of: from, with: to) }
        return text.filter { !$0.isWhitespace }
    }

    /// The forms of a normal declaration that a client cannot tell apart: a constant for a property that is only read,
    /// and a case for a static property.
    package static func forms(of wanted: String, member: String) -> Set<String> {
        var forms: Set<String> = [wanted]
        if wanted.hasPrefix("var"), wanted.hasSuffix("{get}") {
            forms.insert("let" + wanted.dropFirst(3).dropLast(5))
            forms.insert("case" + member)
        }
        if wanted.hasPrefix("let") { forms.insert("var" + wanted.dropFirst(3) + "{get}") }
        return forms
    }
}
