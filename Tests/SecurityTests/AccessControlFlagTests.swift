// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

@Suite struct AccessControlFlagTests {
    private static let flags: [(String, SecAccessControlCreateFlags)] = [
        ("userPresence", .userPresence), ("biometryAny", .biometryAny), ("biometryCurrentSet", .biometryCurrentSet),
        ("devicePasscode", .devicePasscode), ("companion", .companion), ("or", .or), ("and", .and),
        ("privateKeyUsage", .privateKeyUsage), ("applicationPassword", .applicationPassword),
    ]
    // Safe: the strings are immutable, but NSString is not Sendable.
    nonisolated(unsafe) private static let protections: [CFString] = [
        kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, deprecated.kSecAttrAccessibleAlways,
        kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        deprecated.kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    ]

    private func make(_ flags: SecAccessControlCreateFlags) -> SecAccessControl? {
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
    }

    /// The rules of AC-01, written from the specification and not from the implementation.
    private func isAllowed(_ names: Set<String>) -> Bool {
        if names.isSuperset(of: ["or", "and"]) { return false }
        if names.isSuperset(of: ["biometryAny", "biometryCurrentSet"]) { return false }
        if !names.isDisjoint(with: ["or", "and"]), names.subtracting(["or", "and", "privateKeyUsage"]).isEmpty {
            return false
        }
        guard names.contains("userPresence") else { return true }
        return names.subtracting(["userPresence", "applicationPassword", "privateKeyUsage"]).isEmpty
    }

    @Test func everyFlagHasApplesValue() throws {
        var values = try Table("security.tsv").values("flag")
        for (name, flag) in Self.flags { #expect(values.removeValue(forKey: name) == String(flag.rawValue), "\(name)") }
        #expect(Set(values.keys) == ["touchIDAny", "touchIDCurrentSet", "watch"], "deprecated names, tested below")
    }

    @available(*, deprecated, message: "uses deprecated names")
    @Test func formerFlagNamesEqualTheNewFlags() {
        #expect(SecAccessControlCreateFlags.touchIDAny == .biometryAny)
        #expect(SecAccessControlCreateFlags.touchIDCurrentSet == .biometryCurrentSet)
        #expect(SecAccessControlCreateFlags.watch == .companion)
    }

    @Test func everyPairOfFlagsIsAllowedOrRefusedAsSpecified_AC01_T30() {
        for (one, first) in Self.flags {
            for (two, second) in Self.flags {
                #expect((make([first, second]) != nil) == isAllowed([one, two]), "\(one) and \(two)")
            }
        }
    }

    @Test func everySetOfFlagsIsAllowedOrRefusedAsSpecified_AC01() {
        for bits in 0..<(1 << Self.flags.count) {
            let chosen = Self.flags.enumerated().filter { bits & (1 << $0.offset) != 0 }.map(\.element)
            let names = Set(chosen.map(\.0))
            let flags = chosen.reduce(into: SecAccessControlCreateFlags()) { $0.formUnion($1.1) }
            #expect((make(flags) != nil) == isAllowed(names), "\(names.sorted())")
        }
    }

    @Test func unknownFlagsAreRefused() {
        let known = Self.flags.reduce(into: SecAccessControlCreateFlags()) { $0.formUnion($1.1) }
        for bit in 0..<CFOptionFlags.bitWidth {
            let flag = SecAccessControlCreateFlags(rawValue: 1 << bit)
            if known.contains(flag) { continue }
            #expect(make(flag) == nil, "bit \(bit)")
            #expect(make([flag, .userPresence]) == nil, "bit \(bit)")
        }
    }

    @Test func everyAccessibilityConstantIsAccepted() {
        for protection in Self.protections {
            #expect(SecAccessControlCreateWithFlags(nil, protection, [], nil) != nil, "\(protection)")
            #expect(SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, .userPresence, nil) != nil)
        }
    }

    @Test func anUnknownProtectionIsRefused_AC01() {
        let others: [CFTypeRef] = [
            kSecAttrAccount, kSecClassGenericPassword, "" as NSString, "AK" as NSString, 1 as NSNumber, NSNull(),
            Data("ak".utf8) as NSData,
        ]
        for other in others { #expect(SecAccessControlCreateWithFlags(nil, other, [], nil) == nil, "\(other)") }
    }

    @Test func aRefusalSetsAnErrorOfTheOSStatusDomain_AC01() throws {
        var error: Unmanaged<CFError>?
        let rule = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [.or, .and], &error)
        #expect(rule == nil)
        let refusal = try #require(error).takeRetainedValue()
        #expect(CFErrorGetCode(refusal) == Int(errSecParam))
        #expect(CFErrorGetDomain(refusal) as String == NSOSStatusErrorDomain)
    }

    @Test func orAndAndWithoutAConstraintAreRefused_AC01() {
        for flags: SecAccessControlCreateFlags in [.or, .and, [.or, .privateKeyUsage], [.and, .privateKeyUsage]] {
            var error: Unmanaged<CFError>?
            let rule = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, &error)
            #expect(rule == nil, "\(flags.rawValue)")
            #expect(error.map { CFErrorGetCode($0.takeRetainedValue()) } == Int(errSecParam))
        }
    }

    @Test func successDoesNotSetTheError() {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, &error) != nil)
        #expect(error == nil)
    }

    @Test func equalAccessControlsAreEqualObjectsWithTheirOwnTypeID() throws {
        let one = try #require(make([.biometryAny, .or, .devicePasscode]))
        let two = try #require(make([.devicePasscode, .or, .biometryAny]))
        let other = try #require(make(.userPresence))
        #expect(one == two)
        #expect(one.hash == two.hash)
        #expect(one != other)
        #expect(CFGetTypeID(one) == SecAccessControlGetTypeID())
        let any: Any = one
        #expect(any as? SecAccessControl === one)
    }
}
