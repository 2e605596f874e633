// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TerminalPromptDriver
import Testing

/// A prompt takes a while to come up, and what is said of it meanwhile counts.
@Suite struct PromptTableTests {
    private let table = PromptTable<String>()
    private let content = PromptContent(method: .passcode, notice: .none, triesLeft: 0, showsFallback: false)

    init() { table.begin(1) }

    @Test func aPromptThatIsDismissedBeforeItIsUpNeverComesUp() {
        #expect(table.isWanted(1))
        #expect(table.dismiss(1) == nil)
        #expect(!table.isWanted(1))
        #expect(!table.adopt(1, "process") { _ in Issue.record("it is shown") })
        #expect(!table.end(1), "nobody waits for word of it")
    }

    @Test func aPromptThatIsChangedBeforeItIsUpComesUpChanged() {
        #expect(table.update(1, content) == nil)
        var shown: PromptContent?
        #expect(table.adopt(1, "process") { shown = $0 })
        #expect(shown == content)
        #expect(table.update(1, content) == "process")
        #expect(table.dismiss(1) == "process")
        #expect(table.end(1))
        #expect(table.dismiss(1) == nil)
    }

    @Test func aPromptIsOverOnce() {
        #expect(table.end(1))
        #expect(!table.end(1))
        #expect(table.update(1, content) == nil)
        #expect(!table.isWanted(1))
    }
}
