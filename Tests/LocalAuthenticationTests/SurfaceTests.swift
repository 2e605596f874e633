// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Walks Apple's surface as facts and compares it with the symbol graph that the compiler extracts from the module.
@Suite struct SurfaceTests {
    /// What is not there, and why. A row that is there fails the test as well, so that the list stays true.
    private static let exceptions: [String: String] = [
        "LARight.authorize(localizedReason:in:completion:)": "needs a window of AppKit or UIKit",
        "LocalAuthenticationView": "needs SwiftUI", "LAAuthenticationView": "needs AppKit",
        "LAPresentationContext": "names a window of AppKit or UIKit",
    ]
    /// Names that the extractor leaves out because they begin with an underscore or are operators; the other tests of
    /// this target use them.
    private static let hidden: Set<String> = ["LAError.init(_nsError:)", "LAError._nsError", "LAError.Code.~="]

    private struct Fact {
        var type: String
        var member: String
        var declaration: String
        var isDeprecated: Bool
        var name: String { type == "-" ? member : member == "-" ? type : "\(type).\(symbol)" }

        /// A method with a completion handler may come to Swift as a property that is awaited, under another name.
        private var symbol: String {
            guard declaration.hasPrefix("var "), declaration.contains(" async"), member.hasSuffix("(completion:)")
            else {
                return member
            }
            return String(declaration.dropFirst(4).prefix { $0 != ":" })
        }
    }

    private func facts() throws -> [Fact] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/localauthentication-surface.tsv")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return Fact(type: cells[0], member: cells[1], declaration: cells[2], isDeprecated: cells[3] == "deprecated")
        }
    }

    @Test func everySymbolOfAppleIsThereWithItsDeclaration() throws {
        let graph = try SymbolGraph(module: "LocalAuthentication")
        #expect(graph.symbols.count > 200)
        var missing: Set<String> = []
        for fact in try facts() where !Self.hidden.contains(fact.name) {
            if Self.exceptions[fact.name] != nil || Self.exceptions[fact.type] != nil {
                missing.insert(Self.exceptions[fact.type] != nil ? fact.type : fact.name)
                #expect(graph.symbols[fact.name] == nil, "\(fact.name) is there: take it off the list")
                continue
            }
            let found = graph.symbols(like: fact.name, asynchronous: fact.declaration.contains(" async"))
            let wanted = SymbolGraph.forms(of: fact.declaration, member: fact.member)
            let match = found.first { wanted.contains(SymbolGraph.normal($0.declaration)) }
            #expect(match != nil, "\(fact.name): \(fact.declaration) and not \(found.map(\.declaration))")
            if fact.isDeprecated { #expect(match?.isDeprecated == true, "\(fact.name) is deprecated") }
        }
        #expect(missing == Set(Self.exceptions.keys), "every exception is a symbol of Apple's")
    }
}

/// The public symbols of a module, as the toolchain's extractor writes them.
private struct SymbolGraph {
    struct Symbol {
        var declaration: String
        var isDeprecated: Bool
    }
    var symbols: [String: [Symbol]] = [:]

    private struct File: Decodable {
        struct Entry: Decodable {
            struct Fragment: Decodable { var spelling: String }
            struct Availability: Decodable { var isUnconditionallyDeprecated: Bool? }
            var pathComponents: [String]
            var declarationFragments: [Fragment]?
            var availability: [Availability]?
        }
        var symbols: [Entry]
    }

    init(module: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let bundle = try #require(
            CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments.first)
        let modules = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("Modules")
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("surface-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: output) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        var arguments = ["swift", "symbolgraph-extract", "-module-name", module, "-I", modules.path]
        for room in ["CLatchkeyLinux", "COpenSSL"] {
            arguments += ["-Xcc", "-fmodule-map-file=\(root.path)/Sources/\(room)/module.modulemap"]
        }
        #if arch(x86_64)
        let target = "x86_64-unknown-linux-gnu"
        #else
        let target = "aarch64-unknown-linux-gnu"
        #endif
        process.arguments =
            arguments + [
                "-output-dir", output.path, "-minimum-access-level", "public", "-target", target,
            ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "the extractor of the toolchain ran")
        let data = try Data(contentsOf: output.appendingPathComponent("\(module).symbols.json"))
        for entry in try JSONDecoder().decode(File.self, from: data).symbols {
            let declaration = (entry.declarationFragments ?? []).map(\.spelling).joined()
            let isDeprecated = entry.availability?.contains { $0.isUnconditionallyDeprecated == true } ?? false
            symbols[entry.pathComponents.joined(separator: "."), default: []].append(
                Symbol(declaration: declaration, isDeprecated: isDeprecated))
        }
    }

    /// The symbols of a name; the asynchronous form of a method has the name without its last parameter.
    func symbols(like name: String, asynchronous: Bool) -> [Symbol] {
        guard asynchronous else { return symbols[name] ?? [] }
        let short = name.replacingOccurrences(of: "reply:)", with: ")")
            .replacingOccurrences(of: "completion:)", with: ")")
        return symbols[short] ?? []
    }

    /// A declaration without what says the same in other words.
    static func normal(_ declaration: String) -> String {
        var text = declaration.replacingOccurrences(of: #"@\w+(\([^)]*\))?"#, with: "", options: .regularExpression)
        for (from, to) in [
            ("LAError.Code", "Code"), ("LAEnvironment.", ""), ("LARight.", ""), ("optional ", ""),
            ("[String : Any]", "[String: Any]"), ("override ", ""), ("final ", ""), ("class var", "var"),
            ("class func", "func"), ("static ", ""),
        ] { text = text.replacingOccurrences(of: from, with: to) }
        return text.filter { !$0.isWhitespace }
    }

    /// The forms that a client cannot tell apart: a constant for a property that is only read, a case for a static
    /// property and the other way round.
    static func forms(of declaration: String, member: String) -> Set<String> {
        let wanted = normal(declaration)
        var forms: Set<String> = [wanted]
        if wanted.hasPrefix("var"), wanted.hasSuffix("{get}") {
            forms.insert("let" + wanted.dropFirst(3).dropLast(5))
            forms.insert("case" + member)
        }
        if wanted.hasPrefix("case") {
            forms.insert("var\(member):Code{get}")
            forms.insert("var\(member):LAPolicy{get}")
        }
        if wanted.hasPrefix("let") { forms.insert("var" + wanted.dropFirst(3) + "{get}") }
        return forms
    }
}
