// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeyWire
import SQLiteDriver
import SeamStandIns
import SimulatedDriver
import TestSupport
import Testing

/// Requests that read the whole store run on the background queue and delay neither the loop thread nor the thread
/// that writes.
@Suite struct BackgroundTests {
    private let background = HeldWorkQueue()
    private let replies = Replies()
    private let session: HostSession
    private let store: SQLiteItemStore

    init() throws {
        let simulated = try SimulatedService(WorldState()) { [background] parts, _ in
            parts.prompter = SimulatedPrompter()
            parts.background = background
        }
        store = simulated.store
        session = HostSession(greeted: simulated.session(), send: replies.add)
    }

    private func send(_ id: UInt64, _ request: Request) { session.receive(Message.request(id: id, request).encoded()) }

    private func add(_ id: UInt64) {
        send(id, .addItem(Request.AddItem(attributes: [.account: .text("\(id)")])))
    }

    @Test func requestsAreAnsweredDuringACheck() {
        send(1, .check)
        send(2, .log(Request.Log(after: 0, limit: 10, verifies: true)))
        #expect(replies.of(1).isEmpty && replies.of(2).isEmpty)
        add(3)
        #expect(replies.of(3) == [.done])
        send(4, .status)
        #expect(replies.of(4).count == 1)
        background.run()
        #expect(replies.of(2).count == 1)
    }

    @Test func checkIsAnsweredInPartsAndTheLastIsMarked() {
        for id in 10..<300 { add(UInt64(id)) }
        send(1, .check)
        background.run()
        let reports = replies.of(1).compactMap { reply in
            if case .check(let report) = reply { report } else { nil }
        }
        #expect(reports.count > 3)
        #expect(reports.map(\.more) == reports.dropLast().map { _ in true } + [false])
        // Each item and its audit log entry, and the entry of the first write of this boot.
        #expect(reports.last?.done == 581)
        // The request ID can be used again after the last part.
        send(1, .status)
        #expect(replies.of(1).count == reports.count + 1)
    }

    @Test func noFrameHasMoreThan256Findings() throws {
        for number in 0..<200 as Range<UInt8> {
            try store.write { (store) throws(Failure) in
                try store.insert(
                    StoredRow(
                        id: [UInt8](repeating: number, count: 16), itemClass: .genericPassword, primaryKey: [number],
                        group: [], indexes: [], version: 1, attributes: [], secret: nil))
                try store.append(AuditEntry(sequence: Int64(number) + 1, sealed: [], chain: [number]))
            }
        }
        send(1, .check)
        background.run()
        let counts = replies.of(1).map { reply in
            if case .check(let report) = reply { report.findings.count } else { -1 }
        }
        // For each row a damaged row, a broken entry and an unexplained row, and once the mismatch of the set hash.
        #expect(counts.reduce(0, +) == 601)
        #expect(counts.allSatisfy { (0...256).contains($0) })
    }

    @Test func requestIDOfARunningCheckIsInUse() {
        send(1, .check)
        send(1, .status)
        #expect(replies.of(1) == [.failure(Failure(.malformedRequest))])
    }

    @Test func checkEndsWithItsConnection() {
        send(1, .check)
        session.close()
        background.run()
        #expect(replies.of(1).isEmpty)
    }
}
