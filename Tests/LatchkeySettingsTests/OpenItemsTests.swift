// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyDesktop

/// The items that a passcode does not protect, because they were stored before it.
@Suite struct OpenItemsTests {
    private func item(
        _ name: String, at time: Int64?, _ constraints: AccessConstraints = [],
        _ itemClass: ItemClass = .genericPassword
    ) -> StoredItem {
        var attributes: Attributes = [.account: .text(name)]
        attributes[.creationDate] = time.map { .date($0) }
        let found = FoundItem(
            itemClass: itemClass, attributes: attributes, accessControl: AccessControl(constraints: constraints))
        return StoredItem(found, number: Int(time ?? 0))
    }

    @Test func onlyWhatWasStoredBeforeThePasscodeIsListed() {
        let items = [
            item("before", at: 99), item("on purpose", at: 100), item("later", at: 101),
            item("protected", at: 98, .userPresence), item("public", at: 97, [], .certificate),
        ]
        let open = OpenItems(among: items, passcodeTime: 100)
        #expect(open.items.map(\.name) == ["before"] && open.areOlderThanPasscode)
    }

    @Test func withoutTheTimesAllOpenItemsAreListedAndNotCalledOlder() {
        let items = [item("before", at: 99), item("on purpose", at: 101), item("protected", at: 98, .userPresence)]
        let unknown = OpenItems(among: items, passcodeTime: nil)
        #expect(unknown.items.map(\.name) == ["before", "on purpose"] && !unknown.areOlderThanPasscode)
        let undated = OpenItems(among: items + [item("undated", at: nil)], passcodeTime: 100)
        #expect(undated.items.map(\.name) == ["before", "on purpose", "undated"] && !undated.areOlderThanPasscode)
    }
}
