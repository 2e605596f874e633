// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeySimulator
import Security
import TestPromises
import TestSupport
import Testing

@Suite struct AccessGroupTests {
    private let simulator: Simulator
    private let own = Query.password("account").with(kSecAttrAccessGroup, "app")
    private let foreign = Query.password("account").with(kSecAttrAccessGroup, "com.example.other")

    init() throws { simulator = try Simulator(application: "app") }

    @Test(.promise("attacker.other-app", "abuse.1"))
    func aForeignGroupReturnsMissingEntitlementFromEveryCall_KC16_abuse1() {
        simulator.run {
            #expect(add(foreign.secret()) == errSecMissingEntitlement)
            #expect(exists(foreign) == errSecMissingEntitlement)
            #expect(update(foreign, [kSecAttrLabel as String: "label"]) == errSecMissingEntitlement)
            #expect(delete(foreign) == errSecMissingEntitlement)
        }
    }

    @Test func theGroupOfSmartCardsIsForeignToEveryApp() {
        simulator.run {
            let cards: Query = [
                kSecClass as String: kSecClassKey, kSecAttrAccessGroup as String: kSecAttrAccessGroupToken,
            ]
            #expect(exists(cards) == errSecMissingEntitlement)
        }
    }

    @Test func movingAnItemToAForeignGroupReturnsMissingEntitlement_KC16() {
        simulator.run {
            #expect(add(own.secret()) == errSecSuccess)
            #expect(update(own, [kSecAttrAccessGroup as String: "com.example.other"]) == errSecMissingEntitlement)
            #expect(secret(own) == "secret")
        }
    }

    @Test func theAppsOwnGroupIsTheDefault_KC16() throws {
        try simulator.run { () throws in
            #expect(add(.password("account").secret()) == errSecSuccess)
            let found = try #require(find(Query.password("account").attributes).result as? Query)
            #expect(found[kSecAttrAccessGroup as String] as? String == "app")
            #expect(secret(own) == "secret")
            #expect(add(own.secret()) == errSecDuplicateItem)
        }
    }

    @Test func groupNamesAreComparedExactly() {
        simulator.run {
            for name in ["App", "app ", "ap", "", "app\0"] {
                #expect(exists(Query.password().with(kSecAttrAccessGroup, name)) == errSecMissingEntitlement)
            }
        }
    }

    @Test(.promise("abuse.1")) func anotherAppSeesNothingInTheSameStore_abuse1() throws {
        let folder = try TemporaryFolder()
        do {
            let first = try Simulator(store: .folder(folder.path + "/store"), application: "first")
            first.run { #expect(add(.password("account").secret()) == errSecSuccess) }
        }
        let second = try Simulator(store: .folder(folder.path + "/store"), application: "second")
        second.run {
            #expect(exists(.password("account")) == errSecItemNotFound)
            #expect(find(Query.password().data.all).status == errSecItemNotFound)
            #expect(delete(.password()) == errSecItemNotFound)
            #expect(add(.password("account").secret("second")) == errSecSuccess)
        }
    }

    // MARK: - Several groups

    private func group(of query: Query) -> String? {
        (find(query.attributes).result as? Query)?[kSecAttrAccessGroup as String] as? String
    }

    @Test func anAppHasSeveralGroupsAndTheFirstIsTheDefault_KC23() throws {
        let simulator = try Simulator(application: "app", accessGroups: ["team.app", "team.shared", "app"])
        simulator.run {
            let shared = Query.password("account").with(kSecAttrAccessGroup, "team.shared")
            #expect(add(.password("account").secret("default")) == errSecSuccess)
            #expect(group(of: .password("account")) == "team.app")
            #expect(add(shared.secret("shared")) == errSecSuccess)
            #expect(add(shared.secret("shared")) == errSecDuplicateItem)
            #expect((find(Query.password("account").data.all).result as? [Data])?.count == 2)
            #expect(secret(shared) == "shared")
            #expect(add(foreign.secret()) == errSecMissingEntitlement)
            #expect(update(shared, [kSecAttrAccessGroup as String: "app"]) == errSecSuccess)
            #expect(secret(own) == "shared")
            #expect(update(own, [kSecAttrAccessGroup as String: "team.app"]) == errSecDuplicateItem)
            #expect(delete(.password()) == errSecSuccess)
            #expect(exists(own) == errSecItemNotFound)
        }
    }

    @Test func twoAppsShareOnlyTheItemsInTheirCommonGroup_KC23_abuse1() throws {
        let simulator = try Simulator(application: "app", accessGroups: ["app", "team.shared"])
        let shared = Query.password("shared").with(kSecAttrAccessGroup, "team.shared")
        simulator.run {
            #expect(add(shared.secret()) == errSecSuccess)
            #expect(add(.password("own").secret()) == errSecSuccess)
        }
        simulator.run(as: "other", accessGroups: ["other", "team.shared"]) {
            #expect(secret(.password("shared")) == "secret")
            #expect(exists(.password("own")) == errSecItemNotFound)
            #expect(exists(Query.password("own").with(kSecAttrAccessGroup, "app")) == errSecMissingEntitlement)
        }
        simulator.run(as: "third") { #expect(exists(.password("shared")) == errSecItemNotFound) }
    }

    @Test func declaringTheGroupOfSmartCardsDoesNotGrantIt_KC16() throws {
        let simulator = try Simulator(application: "app", accessGroups: ["com.apple.token", "app", "", "app"])
        simulator.run {
            let cards = Query.password().with(kSecAttrAccessGroup, kSecAttrAccessGroupToken)
            #expect(exists(cards) == errSecMissingEntitlement)
            #expect(add(.password("account").secret()) == errSecSuccess)
            #expect(group(of: .password("account")) == "app")
        }
    }

    @Test func groupsComeFromTheEnvironmentOrTheInfoPlist_KC23() {
        let information: [String: Any] = [
            "CFBundleIdentifier": "org.example.notes", "keychain-access-groups": ["TEAM.notes", "TEAM.shared"],
            "com.apple.security.application-groups": ["group.notes", "TEAM.shared"],
        ]
        let declared = AppIdentity(names: ["a", "b"], information: information, executable: "notes")
        #expect((declared.name, declared.groups) == ("a", ["a", "b"]))
        let file = AppIdentity(names: [], information: information, executable: "notes")
        #expect(file.name == "org.example.notes")
        #expect(file.groups == ["TEAM.notes", "TEAM.shared", "org.example.notes", "group.notes"])
        let nothing = AppIdentity(names: [], information: ["CFBundleIdentifier": ""], executable: "notes")
        #expect((nothing.name, nothing.groups) == ("notes", ["notes"]))
    }

    @Test(arguments: [
        ("", []), ("one", ["one"]), (" one , two,one,,three four ", ["one", "two", "three four"]), (" , ,", []),
    ])
    func namesAreSeparatedByCommas_KC23(list: String, names: [String]) {
        #expect(Client.names(in: list) == names)
    }
}
