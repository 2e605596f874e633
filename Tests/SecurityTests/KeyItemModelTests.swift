// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import TestSupport
import Testing

/// Random sequences of operations on stored keys have the same result as on a dictionary that models the keychain.
@Suite struct KeyItemModelTests {
    private struct Name: Hashable {
        var key: Int
        var tag: String
    }

    /// Both halves of two pairs: four keys, of which two share an application label.
    private struct Keys {
        let all: [SecKey]

        init() throws {
            let pairs = [try KeyKind.p256.make(), try KeyKind.curves[1].make()]
            all = try pairs.flatMap { [$0, try publicKey($0)] }
        }

        func query(_ name: Name) -> Query { Query.key(tag: name.tag).with(kSecValueRef, all[name.key]) }
    }

    private static let tags = ["", "a", "b"]

    private func contents(_ keys: Keys) throws -> [Name: String?] {
        let found = find([kSecClass as String: kSecClassKey].attributes.object.all)
        if found.status == errSecItemNotFound { return [:] }
        var result: [Name: String?] = [:]
        for item in try #require(found.result as? [Query]) {
            let key = try #require(item[kSecValueRef as String] as? SecKey)
            let tag = try #require(item[kSecAttrApplicationTag as String] as? Data)
            let name = Name(key: try #require(keys.all.firstIndex(of: key)), tag: String(decoding: tag, as: UTF8.self))
            result[name] = .some(item[kSecAttrLabel as String] as? String)
        }
        return result
    }

    private func step(_ keys: Keys, _ model: inout [Name: String?], _ numbers: inout SeededGenerator) {
        let tag = Self.tags.randomElement(using: &numbers) ?? ""
        let name = Name(key: Int.random(in: 0..<keys.all.count, using: &numbers), tag: tag)
        switch Int.random(in: 0..<5, using: &numbers) {
        case 0, 1:
            #expect(add(keys.query(name)) == (model[name] == nil ? errSecSuccess : errSecDuplicateItem))
            if model[name] == nil { model[name] = .some(nil) }
        case 2:
            let label = "label \(numbers.next())"
            let status = update(keys.query(name), [kSecAttrLabel as String: label])
            #expect(status == (model[name] == nil ? errSecItemNotFound : errSecSuccess))
            if model[name] != nil { model[name] = .some(label) }
        case 3:
            let target = Name(key: name.key, tag: Self.tags.randomElement(using: &numbers) ?? "")
            let status = update(
                keys.query(name), [kSecAttrApplicationTag as String: Data(target.tag.utf8)])
            guard let label = model[name] else {
                #expect(status == errSecItemNotFound)
                return
            }
            let isFree = model[target] == nil || target == name
            #expect(status == (isFree ? errSecSuccess : errSecDuplicateItem))
            guard isFree else { return }
            model[name] = nil
            model[target] = label
        default:
            // Selects every key with the tag, or one key.
            let isAll = Bool.random(using: &numbers)
            let doomed = model.keys.filter { isAll ? $0.tag == tag : $0 == name }
            let status = delete(isAll ? .key(tag: tag) : keys.query(name))
            #expect(status == (doomed.isEmpty ? errSecItemNotFound : errSecSuccess))
            for name in doomed { model[name] = nil }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func randomOperationsMatchADictionaryModel(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        var model: [Name: String?] = [:]
        let keys = try Keys()
        try Simulator().run {
            for number in 0..<400 {
                step(keys, &model, &numbers)
                let contents = try contents(keys)
                try #require(contents == model, "seed \(seed), operation \(number)")
            }
        }
    }
}
