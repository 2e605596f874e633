// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyDesktop

/// Of which entries of the audit log a desktop tells a person.
@Suite struct ActivityNoticeTests {
    private func entry(_ number: Int64, _ event: AuditEvent?, app: String = "bank", item: UInt8? = 1) -> ActivityEntry {
        ActivityEntry(
            AuditLine(
                sequence: number, time: 0, event: event, item: item.map { [$0] } ?? [], caller: app, processID: 7,
                count: 1))
    }

    @Test func firstReadOfAnItemByAProgramIsToldOnce() {
        let entries = [
            entry(6, .used), entry(5, .used, item: 2), entry(4, .used, app: "mail"), entry(3, .used), entry(2, .used),
            entry(1, .added),
        ]
        #expect(
            ActivityNotice.all(in: entries, after: 1) == [
                ActivityNotice(.firstRead(app: "bank"), count: 2), ActivityNotice(.firstRead(app: "mail"), count: 1),
            ])
        #expect(ActivityNotice.all(in: entries, after: 5) == [], "the program has read it before")
        #expect(ActivityNotice.all(in: entries, after: 6) == [] && ActivityNotice.all(in: [], after: 0) == [])
    }

    @Test func aProgramThatALockedKeychainRefusedIsTold() {
        func refused(_ number: Int64, _ reason: RefusalReason) -> ActivityEntry {
            ActivityEntry(
                AuditLine(sequence: number, event: .refused, caller: "mail", ground: .refused(reason)))
        }
        let told = ActivityNotice.all(in: [refused(3, .locked), refused(2, .cancelled), refused(1, .locked)], after: 1)
        #expect(told == [ActivityNotice(.refusedWhileLocked(app: "mail"), count: 1)])
        #expect(told[0].action != nil && ActivityNotice(.lockedOut, count: 1).action == nil)
    }

    @Test func lockoutAndChangedFingersAreTold() {
        let entries = [
            entry(5, .enrollmentChanged, item: nil), entry(4, .lockedOut, item: nil), entry(3, .lockedOut, item: nil),
            entry(2, .tryFailed, item: nil), entry(1, nil, item: nil),
        ]
        #expect(
            ActivityNotice.all(in: entries, after: 0) == [
                ActivityNotice(.lockedOut, count: 2), ActivityNotice(.enrollmentChanged, count: 1),
            ])
    }

    @Test(arguments: [
        ActivityNotice(.lockedOut, count: 1), ActivityNotice(.enrollmentChanged, count: 2),
        ActivityNotice(.firstRead(app: "a bank"), count: 3),
        ActivityNotice(.refusedWhileLocked(app: "a bank"), count: 1),
    ])
    func lineIsReadAsTheNotice(_ notice: ActivityNotice) {
        #expect(
            ActivityNews.notice(ActivityNews.line(notice).split(separator: "\t").map(String.init)) == notice)
        #expect(!notice.title.isEmpty && !notice.body.isEmpty)
    }

    @Test(
        arguments: [
            [], ["newest", "1"], ["first-read", "1"], ["locked-out", "x"], ["locked-out", "1", "2"], ["other", "1"],
        ] as [[String]])
    func otherLinesAreNone(_ fields: [String]) { #expect(ActivityNews.notice(fields) == nil) }

    @Test func argumentIsANumberOrNone() {
        #expect(ActivityNews.number("-") == .some(nil) && ActivityNews.number("7") == .some(7))
        #expect(ActivityNews.number("x") == nil && ActivityNews.number("") == nil)
    }
}
