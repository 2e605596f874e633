// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Queries with `kSecValuePersistentRef`.
@Suite struct PersistentReferenceQueryTests {
    private let simulator: Simulator
    private let one: Query
    private let two: Query

    init() throws {
        let simulator = try Simulator()
        self.simulator = simulator
        let references = simulator.run {
            ["one", "two"].map { account in
                addReturning(Query.password(account, service: "service").secret(account).reference).result as? Data
            }
        }
        one = [kSecValuePersistentRef as String: try #require(references[0])]
        two = [kSecValuePersistentRef as String: try #require(references[1])]
    }

    @Test func referenceFindsItsItem_KC10_T15() {
        simulator.run {
            #expect(exists(one) == errSecSuccess)
            #expect(secret(one) == "one")
            #expect(secret(two) == "two")
            #expect(find(one.reference).result as? Data == one[kSecValuePersistentRef as String] as? Data)
        }
    }

    @Test func referenceMayBeCombinedWithItsClass_KC10() {
        simulator.run { #expect(secret(one.with(kSecClass, kSecClassGenericPassword)) == "one") }
    }

    @Test func referenceStaysValidAfterUpdatesOfThePrimaryKey_KC10() {
        simulator.run {
            let changes: Query = [kSecAttrAccount as String: "renamed", kSecAttrService as String: "moved"]
            #expect(update(.password("one"), changes) == errSecSuccess)
            #expect(secret(one) == "one")
            #expect(find(Query.password("renamed").reference).result as? Data == one.values.first as? Data)
        }
    }

    @Test func updateByReferenceChangesOnlyThatItem_KC10_T17() {
        simulator.run {
            #expect(update(one, [kSecValueData as String: Data("new".utf8)]) == errSecSuccess)
            #expect(secret(one) == "new")
            #expect(secret(two) == "two")
        }
    }

    @Test func deletionByReferenceDeletesOnlyThatItem_KC10_T18() {
        simulator.run {
            #expect(delete(one) == errSecSuccess)
            #expect(exists(one) == errSecItemNotFound)
            #expect(secret(two) == "two")
        }
    }

    @Test func deletedItemIsNotFoundByReferenceOrAttributes_KC10_T16() {
        simulator.run {
            #expect(delete(.password("one")) == errSecSuccess)
            for query in [one, Query.password("one")] {
                let found = find(query.data)
                #expect(found.status == errSecItemNotFound)
                #expect(found.result == nil)
            }
            #expect(add(.password("one", service: "service").secret("successor")) == errSecSuccess)
            #expect(exists(one) == errSecItemNotFound)
        }
    }

    @Test func referenceCannotBeCombinedWithAttributes_KC10() {
        simulator.run {
            for query in [
                one.with(kSecAttrAccount, "one"), one.with(kSecAttrAccessible, kSecAttrAccessibleWhenUnlocked),
                one.under([]), one.with(kSecAttrAccessible, kSecAttrAccessibleWhenUnlocked).under([]),
            ] {
                #expect(exists(query) == errSecParam)
                #expect(update(query, [kSecAttrLabel as String: "label"]) == errSecParam)
                #expect(delete(query) == errSecParam)
            }
            #expect(secret(one) == "one")
        }
    }

    @Test func synchronizableItemIsFoundByItsReferenceAlone_KC11() throws {
        try simulator.run { () throws in
            let synced = Query.password("synced").with(kSecAttrSynchronizable, true).secret("synced")
            let reference = try #require(addReturning(synced.reference).result as? Data)
            #expect(secret([kSecValuePersistentRef as String: reference]) == "synced")
        }
    }

    @Test func forgedReferenceFindsNothing() throws {
        let reference = try #require(one[kSecValuePersistentRef as String] as? Data)
        simulator.run {
            for offset in 2..<reference.count {
                var forged = reference
                forged[offset] ^= 1
                #expect(exists([kSecValuePersistentRef as String: forged]) == errSecItemNotFound, "byte \(offset)")
            }
        }
    }

    @Test func malformedReferencesAreRejected() {
        simulator.run {
            for value: Any in [Data(), Data([1, 2, 3]), Data(count: 1000), "text", 1] {
                #expect(exists([kSecValuePersistentRef as String: value]) == errSecParam, "\(value)")
            }
        }
    }

    @Test func addingWithAReferenceIsRejected() {
        simulator.run { #expect(add(one.merging(.password("three").secret()) { $1 }) == errSecParam) }
    }

    @Test func referenceFromAnotherMachineFindsNothing() throws {
        let other = try Simulator()
        other.run { #expect(exists(one) == errSecItemNotFound) }
    }
}
