// SPDX-License-Identifier: Apache-2.0

import Security
import TestSupport
import Testing

/// Compares the recorded facts about Apple's API with the symbol graph that the compiler extracts from the module.
@Suite struct SecuritySurfaceTests {
    private static let file = "security-surface.tsv"

    /// Symbols of Apple that are absent, and why: names, or prefixes that end with a star.
    /// docs/reference/compatibility.md lists them.
    private static let absent: [String: String] = [
        "SecTrust*": "nothing evaluates trust yet", "kSecTrust*": "nothing evaluates trust yet",
        "SecPolicy*": "nothing evaluates trust yet", "kSecPolicy*": "nothing evaluates trust yet",
        "kSecRevocation*": "nothing evaluates trust yet",
        "kSecMatchHostOrSubdomainOfHost": "nothing evaluates trust yet",
        "SecCertificateCopyValues(_:_:_:)": "macOS alone has it, with localised texts",
        "SecCertificateCopyLongDescription(_:_:_:)": "macOS alone has it, with localised texts",
        "SecCertificateCopyShortDescription(_:_:_:)": "macOS alone has it, with localised texts",
        "kSecProperty*": "keys of SecCertificateCopyValues and SecTrustCopyProperties",
        "SecKeychain": "a file keychain of macOS", "SecKeychainItem": "a file keychain of macOS",
        "SecAccess": "a file keychain of macOS", "kSecAttrAccess": "a file keychain of macOS",
        "kSecUseKeychain": "a file keychain of macOS", "kSecMatchSearchList": "a file keychain of macOS",
        "kSecUseOnlyUID": "owners of a SecAccess", "kSecUseOnlyGID": "owners of a SecAccess",
        "kSecMatchBits": "owners of a SecAccess", "kSecImportExportAccess": "a file keychain of macOS",
        "kSecImportExportKeychain": "a file keychain of macOS",
        "SecCertificateAddToKeychain(_:_:)": "a file keychain of macOS",
        "SecCertificateCopyPreferred(_:_:)": "preferences of the file keychains of macOS",
        "SecCertificateSetPreferred(_:_:_:)": "preferences of the file keychains of macOS",
        "SecIdentityCopyPreferred(_:_:_:)": "preferences of the file keychains of macOS",
        "SecIdentitySetPreferred(_:_:_:)": "preferences of the file keychains of macOS",
        "SecIdentityCopySystemIdentity(_:_:_:)": "identities of the system of macOS",
        "SecIdentitySetSystemIdentity(_:_:)": "identities of the system of macOS",
        "kSecIdentityDomain*": "identities of the system of macOS", "SecKeyUsage": "uses of preferred certificates",
        "SecItemImport(_:_:_:_:_:_:_:_:)": "a file keychain of macOS",
        "SecItemExport(_:_:_:_:_:)": "a file keychain of macOS",
        "SecExternalFormat": "SecItemImport and SecItemExport",
        "SecExternalItemType": "SecItemImport and SecItemExport",
        "SecItemImportExportFlags": "SecItemImport and SecItemExport",
        "SecKeyImportExportFlags": "SecItemImport and SecItemExport",
        "SecKeyCreateFromData(_:_:_:)": "symmetric keys of the file keychains of macOS",
        "SecKeyDeriveFromPassword(_:_:_:)": "symmetric keys of the file keychains of macOS",
        "SecKeyGenerateSymmetric(_:_:)": "symmetric keys of the file keychains of macOS",
        "SecKeyWrapSymmetric(_:_:_:_:)": "symmetric keys of the file keychains of macOS",
        "SecKeyUnwrapSymmetric(_:_:_:_:)": "symmetric keys of the file keychains of macOS",
        "SecKeySizes": "symmetric keys of the file keychains of macOS", "kSecAttrPRF*": "SecKeyDeriveFromPassword",
        "kSecAttrSalt": "SecKeyDeriveFromPassword", "kSecAttrRounds": "SecKeyDeriveFromPassword",
        "SecKeyGeneratePairAsync(_:_:_:)": "its block takes two keys and an error, which never all exist",
        "SecRequestSharedWebCredential(_:_:_:)": "no browser's passwords are shared with apps",
        "kSecSharedPassword": "no browser's passwords are shared with apps",
        "kSecAttrPersistantReference": "Apple is silent on what it does",
        "kSecUseUserIndependentKeychain": "tvOS alone has it; a keychain is one user's",
    ]

    /// Symbols that exist although their family is absent: types that code may name, without functions.
    private static let inert: Set<String> = ["SecTrust"]

    /// Symbols that exist but are not among the facts, and why.
    private static let ours: [String: String] = [
        "CF*": "Core Foundation's, for source compatibility", "kCF*": "Core Foundation's, for source compatibility",
        "FourCharCode": "a name of Darwin's", "OSType": "a name of Darwin's", "NSInteger": "a name of Objective-C's",
        "NSErrorPointer": "a name of Objective-C's", "AutoreleasingUnsafeMutablePointer": "a name of Objective-C's",
    ]

    /// Members that types inherit from their protocols or from NSObject.
    private static let inherited: Set<String> = [
        "rawValue", "init(rawValue:)", "isEqual(_:)", "hash", "description", "RawValue", "ArrayLiteralElement",
        "Element",
    ]

    private static func row(of list: [String: String], for name: String) -> String? {
        if list[name] != nil { return name }
        return list.keys.first { $0.hasSuffix("*") && name.hasPrefix($0.dropLast()) }
    }

    private static func absence(of fact: SurfaceFact) -> String? {
        if inert.contains(fact.name) { return nil }
        return row(of: absent, for: fact.type == "-" ? fact.name : fact.type)
    }

    @Test func everyAppleSymbolIsDeclaredOrListedAsAbsent() throws {
        let graph = try SymbolGraph(module: "Security")
        #expect(graph.symbols.count > 800)
        var used: Set<String> = []
        for fact in try SurfaceFact.read(Self.file) {
            let found = graph.symbols[fact.name] ?? []
            if let row = Self.absence(of: fact) {
                used.insert(row)
                #expect(found.isEmpty, "\(fact.name) exists: remove it from the list")
                continue
            }
            let wanted = SymbolGraph.forms(of: SymbolGraph.normal(fact.declaration), member: fact.member)
            let match = found.first { wanted.contains(Self.normal($0, isType: fact.member == "-")) }
            #expect(match != nil, "\(fact.name): \(fact.declaration) and not \(found.map(\.declaration))")
            guard let match else { continue }
            #expect(match.isDeprecated == fact.isDeprecated, "\(fact.name): deprecated as on Apple systems")
            // Swift imports C functions as @discardableResult: ignoring the result is no warning.
            if fact.declaration.hasPrefix("func") {
                let mayBeIgnored = match.declaration.contains("@discardableResult")
                // A declaration without a result ends with its parameters.
                let hasResult = fact.declaration.contains(" -> ") && !fact.declaration.hasSuffix(")")
                #expect(mayBeIgnored || !hasResult, "\(fact.name): the result may be ignored")
            }
        }
        #expect(used == Set(Self.absent.keys), "every exception is a symbol of Apple")
    }

    @Test func everyPublicSymbolIsApplesOrListed() throws {
        let facts = Set(try SurfaceFact.read(Self.file).map(\.name))
        let errors = Set(try Table("security.tsv").values("error").keys)
        var used: Set<String> = []
        for (name, symbols) in try SymbolGraph(module: "Security").symbols where !symbols.allSatisfy(\.isSynthesized) {
            if facts.contains(name) || errors.contains(name) { continue }
            let member = name.split(separator: ".").dropFirst().joined(separator: ".")
            if facts.contains(String(name.prefix { $0 != "." })), Self.inherited.contains(member) { continue }
            let row = Self.row(of: Self.ours, for: name)
            #expect(row != nil, "\(name) is not a symbol of Apple: \(symbols.map(\.declaration))")
            if let row { used.insert(row) }
        }
        #expect(used == Set(Self.ours.keys), "every listed name exists")
    }

    @Test func everyErrorCodeIsAnOSStatusConstant() throws {
        let graph = try SymbolGraph(module: "Security")
        for name in try Table("security.tsv").values("error").keys {
            #expect(graph.symbols[name]?.map(\.declaration) == ["let \(name): OSStatus"])
        }
    }

    // OldKeyFunctionTests compares those of paddings.
    @Test func rawValuesEqualApples() throws {
        let facts = try SurfaceFact.read(Self.file)
        let operations: [(String, SecKeyOperationType)] = [
            ("sign", .sign), ("verify", .verify), ("encrypt", .encrypt), ("decrypt", .decrypt),
            ("keyExchange", .keyExchange),
        ]
        let parameters: [(String, SecKeyKeyExchangeParameter)] = [
            ("requestedSize", .requestedSize), ("sharedInfo", .sharedInfo),
        ]
        for (type, values) in [
            ("SecKeyOperationType", operations.map { ($0.0, String($0.1.rawValue)) }),
            ("SecKeyKeyExchangeParameter", parameters.map { ($0.0, $0.1.rawValue as String) }),
        ] {
            let wanted = facts.filter { $0.type == type && $0.value != nil }.map { ($0.member, $0.value ?? "") }
            #expect(Dictionary(uniqueKeysWithValues: values) == Dictionary(uniqueKeysWithValues: wanted))
        }
    }

    @Test func bothTablesAgree() throws {
        let table = try Table("security.tsv")
        let facts = Dictionary(
            uniqueKeysWithValues: try SurfaceFact.read(Self.file).map { ($0.name, $0.value) })
        for (name, value) in table.values("constant") { #expect(facts[name] == value, "\(name)") }
        for (name, value) in table.values("flag") {
            #expect(facts["SecAccessControlCreateFlags.\(name)"] == value, "\(name)")
        }
        for (name, value) in table.values("algorithm") { #expect(facts["SecKeyAlgorithm.\(name)"] == value, "\(name)") }
    }

    /// The facts do not record whether Core Foundation types are Sendable; in this module they must be.
    @Test func everyTypeHasApplesConformances() throws {
        let types = try SymbolGraph(module: "Security").types
        var compared = 0
        for fact in try TypeFact.read("security-types.tsv")
        where Self.inert.contains(fact.name) || Self.row(of: Self.absent, for: fact.name) == nil {
            let type = try #require(types[fact.name], "\(fact.name)")
            compared += 1
            #expect(type.kind == fact.kind && !type.isSubclassed, "\(type)")
            if fact.kind == .class {
                #expect(fact.compared.isSubset(of: type.compared) && type.compared.contains("Sendable"), "\(type)")
            } else {
                #expect(type.compared == fact.compared, "\(fact.name)")
            }
        }
        #expect(compared >= 9)
    }

    /// The declaration without the inherited types, which the facts do not record.
    private static func normal(_ symbol: SymbolGraph.Symbol, isType: Bool) -> String {
        let declaration = SymbolGraph.normal(symbol.declaration, replacing: isType ? [("final ", "")] : [])
        return isType ? String(declaration.prefix { $0 != ":" }) : declaration
    }
}
