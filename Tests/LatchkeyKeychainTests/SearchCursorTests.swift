// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import TestSupport
import Testing

/// Searches of several pages, with other requests between the pages.
@Suite struct SearchCursorTests {
    private static let all = ItemQuery(itemClass: .genericPassword)
    private let keychain: Keychain

    init() throws { keychain = try Keychain.inMemory() }

    private func request(
        _ query: ItemQuery = all, limit: MatchLimit = .all, returns: Returns = .attributes,
        authentication: Authentication = Authentication()
    ) -> Request.CopyItems {
        Request.CopyItems(query, limit: limit, returns: returns, authentication: authentication)
    }

    private func accounts(_ items: [FoundItem]) -> [String] {
        items.map { item in
            if case .text(let account) = item.attributes?[.account] { account } else { "" }
        }
    }

    /// Returns the pages of a search, performing an operation after each.
    private func pages(
        _ request: Request.CopyItems, proof: Authorisation = .none, between: (Int) throws -> Void = { _ in }
    ) throws -> (pages: [[String]], end: SearchResult) {
        var cursor = SearchCursor()
        var pages: [[String]] = []
        while true {
            var items: [FoundItem] = []
            let result = try keychain.search(
                request, caller: StoreOnDisk.caller, proof: proof, from: &cursor, used: { _ in },
                emit: { items.append($0) })
            pages.append(accounts(items))
            guard result == .more else { return (pages, result) }
            try between(pages.count)
        }
    }

    private func fill(_ numbers: Range<Int>, group: (Int) -> String? = { _ in nil }) throws {
        for number in numbers { try keychain.add("\(number)", nil, group: group(number)) }
    }

    @Test func fewItemsAreOnePage() throws {
        try fill(0..<255)
        #expect(try pages(request()).pages == [(0..<255).map(String.init)])
    }

    @Test func manyItemsAreReturnedOnceEachInInsertionOrder() throws {
        try fill(0..<1000)
        let (pages, end) = try pages(request())
        #expect(pages.count > 4)
        #expect(pages.joined().elementsEqual((0..<1000).map(String.init)))
        #expect(end == .finished)
    }

    @Test func aLimitCountsOverPages() throws {
        try fill(0..<600)
        let (pages, end) = try pages(request(limit: .first(300)))
        #expect(pages.joined().elementsEqual((0..<300).map(String.init)))
        #expect(end == .finished)
    }

    @Test func aSearchForOneItemAfterManyOthersIsPaged() throws {
        try fill(0..<600)
        try keychain.add("last", "secret")
        let one = ItemQuery(itemClass: .genericPassword, attributes: [.comment: .text("none")])
        #expect(status { _ = try pages(request(one, limit: .one)) } == .itemNotFound)
        #expect(try pages(request(limit: .first(601))).pages.joined().count == 601)
    }

    @Test func itemsDeletedOrAddedBetweenPagesAreLeftOut() throws {
        try fill(0..<600)
        var added = 600
        let (pages, _) = try pages(request()) { page in
            // One item that was returned already, one that was not, and new ones.
            if page == 3 { try? keychain.delete(.account("3"), caller: StoreOnDisk.caller) }
            try? keychain.delete(.account("590"), caller: StoreOnDisk.caller)
            try fill(added..<added + 300)
            added += 300
        }
        #expect(pages.joined().elementsEqual((0..<600).filter { $0 != 590 }.map(String.init)))
    }

    @Test func anItemIsReturnedAsItWasWhenItsPageWasRead() throws {
        try fill(0..<600)
        let (pages, _) = try pages(request()) { page in
            if page == 3 { _ = try keychain.update(.account("500"), [.account: .text("changed")]) }
        }
        #expect(pages.joined().filter { $0 == "changed" || $0 == "500" } == ["changed"])
        #expect(pages.joined().count == 600)
    }

    @Test func groupsAreInterleavedAndAnItemThatChangesItsGroupIsReturnedOnce() throws {
        try fill(0..<900) { $0 % 3 == 0 ? "shared" : "app" }
        let (pages, _) = try pages(request()) { _ in
            for number in [0, 300, 600, 870] {
                var query = ItemQuery.account("\(number)")
                query.attributes[.accessGroup] = .text("shared")
                _ = try? keychain.update(query, [.accessGroup: .text("app")])
            }
            for number in [1, 301, 601, 871] {
                var query = ItemQuery.account("\(number)")
                query.attributes[.accessGroup] = .text("app")
                _ = try? keychain.update(query, [.accessGroup: .text("shared")])
            }
        }
        #expect(pages.count > 3)
        #expect(pages.joined().elementsEqual((0..<900).map(String.init)))
    }

    @Test func aPageOfLargeSecretsIsShort() throws {
        let secret = String(repeating: "s", count: 100 << 10)
        for number in 0..<12 { try keychain.add("\(number)", secret, group: number % 2 == 0 ? "app" : "shared") }
        let (pages, _) = try pages(request(returns: [.attributes, .data]))
        #expect(pages.joined().elementsEqual((0..<12).map(String.init)))
        #expect(pages.allSatisfy { $0.count <= 3 })
    }

    @Test func theLastPageMayBeFull() throws {
        try fill(0..<512)
        let (pages, end) = try pages(request())
        #expect(pages.joined().count == 512)
        #expect(end == .finished)
    }

    @Test func noItemIsReturnedBeforeAllMissingProofsAreKnown() throws {
        try fill(0..<600)
        try keychain.add("passcode", "one", rule(.whenUnlocked, .devicePasscode))
        try keychain.add("finger", "two", rule(.whenUnlocked, .biometryAny))
        let asking = request(returns: [.attributes, .data])
        let (pages, end) = try pages(asking)
        #expect(pages.joined().isEmpty)
        #expect(end == .needs(AuthenticationPlan([[.passcode], [.biometry]])))
        let set = EnrolmentSet([1])
        #expect(try keychain.apply(set))
        let proof = Authorisation.testOnly([.passcode, .biometry], enrolment: set, by: StoreOnDisk.caller)
        #expect(try self.pages(asking, proof: proof).pages.joined().count == 602)
    }

    @Test func anItemProtectedBetweenPagesStopsTheSearchBeforeIt() throws {
        try fill(0..<600)
        var cursor = SearchCursor()
        var found: [FoundItem] = []
        let asking = request(returns: [.attributes, .data])
        func next(_ proof: Authorisation) throws -> SearchResult {
            try keychain.search(
                asking, caller: StoreOnDisk.caller, proof: proof, from: &cursor, used: { _ in },
                emit: { found.append($0) })
        }
        while found.isEmpty { #expect(try next(.none) == .more) }
        _ = try keychain.update(.account("550"), secret: "kept", rule: rule(.whenUnlocked, .userPresence))
        var result = SearchResult.more
        while result == .more { result = try next(.none) }
        #expect(result == .needs(AccessControl(accessibility: .whenUnlocked, constraints: .userPresence).plan))
        #expect(accounts(found) == (0..<550).map(String.init))
        result = .more
        while result == .more { result = try next(.ofPasscode) }
        #expect(result == .finished)
        #expect(accounts(found) == (0..<600).map(String.init))
    }

    @Test func eachItemWithAPasswordEndsThePageUntilThePasswordIsStretched() throws {
        let (plain, control) = (SecretBytes("open".utf8), rule(.whenUnlocked, .applicationPassword))
        for number in 0..<3 {
            let add = Request.AddItem(
                attributes: named("\(number)"), accessControl: control, secret: SecretBytes("s".utf8))
            _ = try keychain.add(
                add, caller: StoreOnDisk.caller, password: keychain.appPassword(plain, toAdd: control))
        }
        var cursor = SearchCursor()
        var password = try keychain.appPassword(isGiven: true)
        var pages: [[String]] = []
        while true {
            var found: [FoundItem] = []
            let result = try keychain.search(
                request(), caller: StoreOnDisk.caller, proof: .none, password: password, from: &cursor,
                used: { _ in }, emit: { found.append($0) })
            pages.append(accounts(found))
            guard case .stretch(let parameters) = result else { break }
            password = password.withoutKeys
            for parameters in parameters { password.add(try StretchedPassword(plain, parameters)) }
        }
        #expect(pages == [[], ["0"], ["1"], ["2"]])
    }

    @Test func aListingIsPaged() throws {
        try fill(0..<600)
        var cursor = SearchCursor()
        var found: [String] = []
        var pages = 0
        var result = SearchResult.more
        while result == .more {
            result = try keychain.list(Self.all, caller: StoreOnDisk.caller, from: &cursor) { item in
                found += accounts([item])
            }
            pages += 1
        }
        #expect(pages == 3)
        #expect(found == (0..<600).map(String.init))
    }
}
