// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// The attribute `kSecAttrSynchronizable` in items and queries.
@Suite struct SynchronizableTests {
    private let simulator: Simulator
    private let local = Query.password("account", service: "service")
    private let synced = Query.password("account", service: "service").with(kSecAttrSynchronizable, true)
    private let any = Query.password("account", service: "service")
        .with(kSecAttrSynchronizable, kSecAttrSynchronizableAny)

    init() throws { simulator = try Simulator() }

    @Test func localAndSynchronizableItemsWithEqualKeysCoexist_KC11() {
        simulator.run {
            #expect(add(local.secret("local")) == errSecSuccess)
            #expect(add(synced.secret("synced")) == errSecSuccess)
            #expect(add(synced.secret("synced")) == errSecDuplicateItem)
            #expect(find(local.data.all).result as? [Data] == [Data("local".utf8)])
            #expect(find(synced.data.all).result as? [Data] == [Data("synced".utf8)])
            #expect((find(any.data.all).result as? [Data])?.count == 2)
        }
    }

    @Test func queryWithoutSynchronizableMatchesLocalItemsOnly_KC11() {
        simulator.run {
            #expect(add(synced.secret()) == errSecSuccess)
            #expect(exists(local) == errSecItemNotFound)
            #expect(exists(.password()) == errSecItemNotFound)
            #expect(update(local, [kSecAttrLabel as String: "label"]) == errSecItemNotFound)
            #expect(delete(local) == errSecItemNotFound)
            #expect(exists(local.with(kSecAttrSynchronizable, false)) == errSecItemNotFound)
        }
    }

    @Test func synchronizableItemsAreFoundUpdatedAndDeleted_T19() {
        simulator.run {
            #expect(add(synced.secret()) == errSecSuccess)
            #expect(exists(synced) == errSecSuccess)
            #expect(exists(any) == errSecSuccess)
            #expect(update(synced, [kSecValueData as String: Data("new".utf8)]) == errSecSuccess)
            #expect(secret(synced) == "new")
            #expect(delete(synced) == errSecSuccess)
            #expect(exists(any) == errSecItemNotFound)
        }
    }

    @Test func synchronizableMayBeANumber() {
        simulator.run {
            #expect(add(local.with(kSecAttrSynchronizable, 1).secret()) == errSecSuccess)
            #expect(exists(synced) == errSecSuccess)
            #expect(exists(local.with(kSecAttrSynchronizable, kCFBooleanTrue as Any)) == errSecSuccess)
        }
    }

    @Test func synchronizableAnyFindsLocalAndSynchronizableItems_KC11() {
        simulator.run {
            #expect(add(local.secret("local")) == errSecSuccess)
            #expect(add(synced.secret("synced")) == errSecSuccess)
            for query in [Query.password("account"), .password(service: "service"), .password()] {
                let both = query.with(kSecAttrSynchronizable, kSecAttrSynchronizableAny)
                #expect((find(both.data.all).result as? [Data])?.count == 2)
            }
            #expect(delete(any) == errSecSuccess)
            #expect(exists(any) == errSecItemNotFound)
        }
    }

    @Test func synchronizableAnyIsRejectedAsAnItemValue() {
        simulator.run {
            #expect(add(any.secret()) == errSecParam)
            #expect(add(local.secret()) == errSecSuccess)
            let changes: Query = [kSecAttrSynchronizable as String: kSecAttrSynchronizableAny]
            #expect(update(local, changes) == errSecParam)
        }
    }

    @Test func synchronizableItemRejectsConstraints_KC12_T33() {
        simulator.run {
            #expect(add(synced.secret().under(.userPresence)) == errSecParam)
            #expect(exists(synced) == errSecItemNotFound)
            #expect(add(synced.secret()) == errSecSuccess)
            let rule = Query().under(.userPresence)
            #expect(update(synced, rule) == errSecParam)
            #expect(secret(synced) == "secret")
        }
    }

    @Test func synchronizableItemAcceptsAnAccessControlWithoutConstraints_KC12() {
        simulator.run {
            #expect(add(synced.secret().under([])) == errSecSuccess)
            #expect(secret(synced) == "secret")
        }
    }

    @Test func synchronizableItemAcceptsThisDeviceOnlyClasses_KC12() {
        let classes = [
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            deprecated.kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
        ]
        simulator.run {
            for name in classes {
                #expect(add(synced.secret().with(kSecAttrAccessible, name)) == errSecSuccess, "\(name)")
                #expect(secret(synced) == "secret")
                #expect(delete(synced) == errSecSuccess)
                let rule = SecAccessControlCreateWithFlags(nil, name, [], nil)
                #expect(add(synced.secret().with(kSecAttrAccessControl, rule as Any)) == errSecSuccess, "\(name)")
                #expect(update(synced, [kSecAttrAccessible as String: name]) == errSecSuccess)
                #expect(delete(synced) == errSecSuccess)
            }
        }
    }

    @Test func makingAnItemSynchronizableFailsIfItsTwinExists_KC05() {
        simulator.run {
            #expect(add(local.secret("local")) == errSecSuccess)
            #expect(update(local, [kSecAttrSynchronizable as String: true]) == errSecSuccess)
            #expect(secret(synced) == "local")
            #expect(add(local.secret("twin")) == errSecSuccess)
            #expect(update(local, [kSecAttrSynchronizable as String: true]) == errSecDuplicateItem)
        }
    }
}
