// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Compares Apple's public API, as a table of facts, with the symbol graph that the compiler extracts from the module.
@Suite struct SurfaceTests {
    /// Apple symbols that this module does not declare, and why. The test fails when one of them is declared, so that
    /// the list stays correct.
    private static let exceptions: [String: String] = [
        "LARight.authorize(localizedReason:in:completion:)": "needs a window of AppKit or UIKit",
        "LocalAuthenticationView": "needs SwiftUI", "LAAuthenticationView": "needs AppKit",
        "LAPresentationContext": "names a window of AppKit or UIKit",
    ]
    /// Symbols that the extractor omits because they begin with an underscore or are operators; other tests of this
    /// target use them.
    private static let hidden: Set<String> = ["LAError.init(_nsError:)", "LAError._nsError", "LAError.Code.~="]

    @Test func everySymbolOfAppleIsDeclaredLikeApples() throws {
        let graph = try SymbolGraph(module: "LocalAuthentication")
        #expect(graph.symbols.count > 200)
        var missing: Set<String> = []
        for fact in try SurfaceFact.read("localauthentication-surface.tsv") where !Self.hidden.contains(fact.name) {
            if Self.exceptions[fact.name] != nil || Self.exceptions[fact.type] != nil {
                missing.insert(Self.exceptions[fact.type] != nil ? fact.type : fact.name)
                #expect(graph.symbols[fact.name] == nil, "\(fact.name) exists: remove it from the list")
                continue
            }
            let found = graph.symbols(like: fact.name, asynchronous: fact.declaration.contains(" async"))
            let wanted = Self.forms(of: fact)
            let match = found.first { wanted.contains(Self.normal($0.declaration)) }
            #expect(match != nil, "\(fact.name): \(fact.declaration) and not \(found.map(\.declaration))")
            if fact.isDeprecated { #expect(match?.isDeprecated == true, "\(fact.name) is deprecated") }
        }
        #expect(missing == Set(Self.exceptions.keys), "every exception is a symbol of Apple's")
    }

    /// Types that apps cannot create or subclass here: they are immutable, and therefore Sendable.
    private static let closed: Set<String> = [
        "LAAuthenticationRequirement", "LABiometryFallbackRequirement", "LADomainState", "LADomainStateBiometry",
        "LADomainStateCompanion",
    ]
    /// Types that apps cannot create on Apple systems either; here they are Sendable too.
    private static let sendable: Set<String> = [
        "LAEnvironment", "LAPrivateKey", "LAPublicKey", "LARightStore", "LASecret",
    ]

    @Test func everyTypeConformsAsApples() throws {
        let types = try SymbolGraph(module: "LocalAuthentication").types
        var closed: Set<String> = []
        var sendable: Set<String> = []
        let facts = try TypeFact.read("localauthentication-types.tsv")
        for fact in facts where Self.exceptions[fact.name] == nil {
            let type = try #require(types[fact.name], "\(fact.name)")
            #expect(type.kind == fact.kind && type.superclass == fact.superclass, "\(type)")
            let more = type.compared.subtracting(fact.compared)
            if more == ["Sendable"] { sendable.insert(fact.name) }
            #expect(more.isEmpty || more == ["Sendable"], "\(fact.name): \(more)")
            #expect(
                fact.compared.isSubset(of: type.compared), "\(fact.name): \(fact.compared.subtracting(type.compared))")
            if fact.isSubclassed, !type.isSubclassed { closed.insert(fact.name) }
            #expect(fact.isSubclassed || !type.isSubclassed, "\(fact.name) can be created by apps")
        }
        #expect(closed == Self.closed)
        #expect(sendable == Self.sendable.union(Self.closed))
        #expect(Set(types.keys).subtracting(facts.map(\.name)).isEmpty)
    }

    /// Members of classes from Objective-C can be overridden, which mocks do.
    @Test func everyMemberOfASubclassedTypeIsOpen() throws {
        let graph = try SymbolGraph(module: "LocalAuthentication")
        var (open, closed): (Set<String>, Set<String>) = ([], [])
        for fact in try SurfaceFact.read("localauthentication-surface.tsv") {
            guard graph.types[fact.type]?.isSubclassed == true else { continue }
            for symbol in graph.symbols[fact.name] ?? [] where symbol.isMember {
                if symbol.isOpen { open.insert(fact.name) } else { closed.insert(fact.name) }
            }
        }
        #expect(open.contains("LAContext.invalidate()") && open.count >= 20, "\(open)")
        #expect(closed == [])
    }

    private static func normal(_ declaration: String) -> String {
        SymbolGraph.normal(
            declaration,
            replacing: [
                ("LAError.Code", "Code"), ("LAEnvironment.", ""), ("LARight.", ""), ("optional ", ""),
                ("[String : Any]", "[String: Any]"),
            ])
    }

    /// A case may also be declared as a static property.
    private static func forms(of fact: SurfaceFact) -> Set<String> {
        let wanted = normal(fact.declaration)
        let forms = SymbolGraph.forms(of: wanted, member: fact.member)
        guard wanted.hasPrefix("case") else { return forms }
        return forms.union(["Code", "LAPolicy"].map { "staticvar\(fact.member):\($0){get}" })
    }
}

extension SymbolGraph {
    /// The symbols of a name. The asynchronous form of a method has the name without its last parameter.
    fileprivate func symbols(like name: String, asynchronous: Bool) -> [Symbol] {
        guard asynchronous else { return symbols[name] ?? [] }
        let short = name.replacingOccurrences(of: "reply:)", with: ")")
            .replacingOccurrences(of: "completion:)", with: ")")
        return symbols[short] ?? []
    }
}
