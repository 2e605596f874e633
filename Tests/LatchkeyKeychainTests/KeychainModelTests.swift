// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import TestSupport
import Testing

/// Random sequences of operations give the same result on a store as on a plain dictionary.
@Suite struct KeychainModelTests {
    private struct Key: Hashable {
        var account: String
        var service: String

        var query: ItemQuery {
            ItemQuery(itemClass: .genericPassword, attributes: [.account: .text(account), .service: .text(service)])
        }
    }

    private struct Value: Equatable {
        var secret: String?
        var label: String?
    }

    private static let words = ["a", "b", "c", ""]

    private func contents(_ keychain: Keychain) throws -> [Key: Value] {
        var result: [Key: Value] = [:]
        let all = ItemQuery(itemClass: .genericPassword)
        let found = try? keychain.find(all, returns: [.attributes, .data])
        for item in found ?? [] {
            guard case .text(let account)? = item.attributes?[.account],
                case .text(let service)? = item.attributes?[.service]
            else { continue }
            var value = Value(secret: item.secret.map { String(decoding: $0.copyBytes(), as: UTF8.self) })
            if case .text(let label)? = item.attributes?[.label] { value.label = label }
            result[Key(account: account, service: service)] = value
        }
        return result
    }

    /// Performs one random operation on both; the result codes must be equal too.
    private func step(_ keychain: Keychain, _ model: inout [Key: Value], _ numbers: inout SeededGenerator) throws {
        let key = Key(
            account: Self.words.randomElement(using: &numbers) ?? "",
            service: Self.words.randomElement(using: &numbers) ?? "")
        let secret = Bool.random(using: &numbers) ? "secret \(numbers.next())" : nil
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0, 1:
            let request = Request.AddItem(attributes: key.query.attributes, secret: secret.map { SecretBytes($0.utf8) })
            let failure = status { _ = try keychain.add(request, caller: StoreOnDisk.caller) }
            #expect(failure == (model[key] == nil ? nil : .duplicateItem))
            if model[key] == nil { model[key] = Value(secret: secret) }
        case 2:
            let failure = status { _ = try keychain.update(key.query, [.label: .text("label")], secret: secret) }
            #expect(failure == (model[key] == nil ? .itemNotFound : nil))
            guard var value = model[key] else { return }
            value.label = "label"
            if let secret { value.secret = secret }
            model[key] = value
        case 3:
            let target = Key(account: Self.words.randomElement(using: &numbers) ?? "", service: key.service)
            let failure = status { _ = try keychain.update(key.query, [.account: .text(target.account)]) }
            if let value = model[key] {
                #expect(failure == (model[target] == nil || target == key ? nil : .duplicateItem))
                if failure == nil {
                    model[key] = nil
                    model[target] = value
                }
            } else {
                #expect(failure == .itemNotFound)
            }
        case 4:
            let failure = status { try keychain.delete(key.query, caller: StoreOnDisk.caller) }
            #expect(failure == (model[key] == nil ? .itemNotFound : nil))
            model[key] = nil
        default:
            let query = ItemQuery(itemClass: .genericPassword, attributes: [.service: .text(key.service)])
            let failure = status { try keychain.delete(query, caller: StoreOnDisk.caller) }
            let doomed = model.keys.filter { $0.service == key.service }
            #expect(failure == (doomed.isEmpty ? .itemNotFound : nil))
            for key in doomed { model[key] = nil }
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func randomOperationsMatchADictionary(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        var model: [Key: Value] = [:]
        let keychain = try Keychain.inMemory()
        for number in 0..<300 {
            try step(keychain, &model, &numbers)
            try #require(try contents(keychain) == model, "seed \(seed), operation \(number)")
        }
    }

    @Test func randomOperationsSurviveReopening() throws {
        var numbers = SeededGenerator(seed: 7)
        var model: [Key: Value] = [:]
        let store = try StoreOnDisk()
        for _ in 0..<10 {
            let keychain = try store.open()
            try #require(try contents(keychain) == model)
            for _ in 0..<10 { try step(keychain, &model, &numbers) }
        }
    }
}
