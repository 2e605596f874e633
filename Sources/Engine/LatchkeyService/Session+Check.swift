// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel

// Requests that read large parts of the store run in slices on the background queue, so that neither the loop thread
// nor the thread that writes waits for them.

extension Session {
    /// Sends a page of the audit log. The log belongs to the user and names every app of the store.
    func log(_ request: Request.Log) async throws(Failure) -> Reply {
        let keychain = try keychain()
        // The log shows what was read and refused until now.
        if keychain.hasUnrecordedReads || keychain.hasUnrecordedRefusals {
            try await service.parts.work.run { [log = service.parts.log] () throws(Failure) in
                log.recording(.refusalNotRecorded) { () throws(Failure) in try keychain.recordGatheredRefusals() }
                log.recording(.readsNotRecorded) { () throws(Failure) in try keychain.recordReads() }
            }
        }
        return .log(try await service.parts.background.run { () throws(Failure) in try keychain.log(request) })
    }

    /// Checks the whole store and sends one or more reports for each slice.
    func check(_ call: Call) async throws(Failure) -> Reply {
        var check = StoreCheck(try keychain())
        while true {
            let start = check
            let (report, next) = try await inTurn(call) { () throws(Failure) in
                var check = start
                return (try check.next(), check)
            }
            check = next
            var parts = report.parts
            let last = parts.removeLast()
            for part in parts { call.send(.check(part)) }
            guard report.more else { return .check(last) }
            call.send(.check(last))
        }
    }

    /// Moves quarantined rows that authenticate again back to the items, in slices, so that a large quarantine does not
    /// delay other writes.
    func restoreRows(_ call: Call) async throws(Failure) -> Reply {
        var restore = QuarantineRestore(try keychain(), caller: caller)
        while true {
            guard await pages.turn(of: call.id) else { throw Refusal.connectionEnded }
            let start = restore
            let (report, next) = try await service.parts.work.run { [self] () throws(Failure) in
                guard !isClosed else { throw Refusal.connectionEnded }
                var restore = start
                return (try restore.next(), restore)
            }
            restore = next
            guard report.more else { return .check(report) }
            call.send(.check(report))
        }
    }
}

extension CheckReport {
    /// Maximum findings of one frame.
    private static let findingsOfAFrame = 256

    /// The report, split into reports that fit a frame.
    fileprivate var parts: [CheckReport] {
        var parts: [CheckReport] = []
        var rest = findings[...]
        repeat {
            let part = rest.prefix(Self.findingsOfAFrame)
            rest = rest.dropFirst(part.count)
            parts.append(CheckReport(more: more || !rest.isEmpty, done: done, total: total, findings: Array(part)))
        } while !rest.isEmpty
        return parts
    }
}
