// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import LatchkeyModel
import Testing

/// Starting a prompt's process takes time; changes made meanwhile must not be lost.
@Suite struct PromptTableTests {
    private let table = PromptTable<String>()
    private let content = PromptContent(method: .passcode, notice: .none, triesLeft: 0, showsFallback: false)

    init() { table.begin(1) }

    @Test func promptDismissedBeforeItsProcessRunsIsNotShown() {
        #expect(table.isWanted(1))
        #expect(table.dismiss(1) == nil)
        #expect(!table.isWanted(1))
        #expect(!table.adopt(1, "process") { _ in Issue.record("it is shown") })
        #expect(!table.end(1), "no end is reported after dismissal")
    }

    @Test func promptChangedBeforeItsProcessRunsShowsTheChange() {
        #expect(table.update(1, content) == nil)
        var shown: PromptContent?
        #expect(table.adopt(1, "process") { shown = $0 })
        #expect(shown == content)
        #expect(table.update(1, content) == "process")
        #expect(table.dismiss(1) == "process")
        #expect(table.end(1))
        #expect(table.dismiss(1) == nil)
    }

    @Test func promptEndsOnce() {
        #expect(table.end(1))
        #expect(!table.end(1))
        #expect(table.update(1, content) == nil)
        #expect(!table.isWanted(1))
    }
}
