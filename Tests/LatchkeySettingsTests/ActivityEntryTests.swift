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

    /// Reads of unprotected items are counted, and their entries can follow those of later events.
    @Test func entriesAreShownByTheirTimes() {
        func entry(_ number: Int64, _ seconds: Int64, _ event: AuditEvent? = .used) -> ActivityEntry {
            ActivityEntry(AuditLine(sequence: number, time: seconds * 1_000_000, event: event))
        }
        let read = [entry(6, 20), entry(5, 40), entry(4, 0, nil), entry(3, 30), entry(2, 30), entry(1, 10)]
        #expect(read.byTime.map(\.id) == [5, 4, 3, 2, 6, 1])
        #expect(entries(1...20).byTime == entries(1...20))
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
