// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@Suite struct MatchLimitTests {
    @Test func aNumberIsALimit() {
        #expect(MatchLimit(0) == nil)
        #expect(MatchLimit(1) == .one)
        #expect(MatchLimit(2) == .first(2))
        #expect(MatchLimit(.max) == .first(.max))
    }

    @Test func aLimitIsReachedByItsNumberOfItems() {
        #expect(!MatchLimit.one.isReached(by: 0) && MatchLimit.one.isReached(by: 1))
        #expect(!MatchLimit.first(3).isReached(by: 2) && MatchLimit.first(3).isReached(by: 3))
        #expect(!MatchLimit.first(.max).isReached(by: Int.max))
    }

    @Test func allItemsHaveNoLimit() {
        #expect(MatchLimit.all.maximum == nil)
        #expect(!MatchLimit.all.isReached(by: Int.max))
    }
}
