// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyDesktop

/// What the list of the audit log shows after its latest entries were read again.
@Suite struct ActivityEntryTests {
    private func entries(_ numbers: ClosedRange<Int64>, time: Int64 = 1_700_000_000_000_000) -> [ActivityEntry] {
        numbers.reversed().map { ActivityEntry(AuditLine(sequence: $0, time: time, event: .used)) }
    }

    @Test func olderEntriesStayWhenThereIsANewOne() {
        let shown = entries(101...200) + entries(1...100)
        #expect(shown.updated(with: entries(102...201)) == entries(1...201))
        #expect(shown.updated(with: entries(101...200)) == shown)
    }

    @Test func olderEntriesGoWhenOthersAreMissingInBetween() {
        #expect(entries(1...200).updated(with: entries(301...400)) == entries(301...400))
    }

    @Test func theLogOfAnotherKeychainReplacesTheList() {
        let other = entries(1...3, time: 1_800_000_000_000_000)
        #expect(entries(1...200).updated(with: other) == other)
        #expect(entries(1...200).updated(with: []).isEmpty)
        #expect([ActivityEntry]().updated(with: other) == other)
    }
}
