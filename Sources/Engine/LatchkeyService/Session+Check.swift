// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel

// Requests that read large parts of the store run in slices on the background queue, so that neither the loop thread
// nor the thread that writes waits for them.

extension Session {
    /// Sends a page of the audit log. The log belongs to the user and names every app of the store.
    func log(_ request: Request.Log, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        let background = service.parts.background
        let read: @Sendable () -> Void = {
            background.submit(.any) {
                do throws(Failure) {
                    answer(.log(try keychain.log(request)))
                } catch {
                    answer(.failure(error))
                }
            }
        }
        // The log shows what was read until now.
        if keychain.hasUnrecordedReads { recordReads(keychain, then: read) } else { read() }
    }

    /// Checks the whole store and sends one or more reports for each slice.
    func check(_ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        goOn(answer) { [self] (done) throws(Failure) in
            try go(on: StoreCheck(keychain), answer)
            done()
        }
    }

    private func go(on start: StoreCheck, _ answer: @escaping Answer) throws(Failure) {
        var check = start
        let report = try check.next()
        for part in report.parts { answer(.check(part)) }
        guard report.more else { return }
        let next = check
        goOn(answer) { [self] (done) throws(Failure) in
            try go(on: next, answer)
            done()
        }
    }
}

extension Session {
    /// Moves quarantined rows that authenticate again back to the items, in slices, so that a large quarantine does not
    /// delay other writes.
    func restoreRows(_ answer: @escaping Answer) throws(Failure) {
        go(on: QuarantineRestore(try keychain(), caller: caller), answer)
    }

    private func go(on start: QuarantineRestore, _ answer: @escaping Answer) {
        goOn(answer) { [self] (done) throws(Failure) in
            service.parts.work.submit(.any) { [self] in
                var restore = start
                do throws(Failure) {
                    let report = try restore.next()
                    answer(.check(report))
                    if report.more { go(on: restore, answer) }
                } catch {
                    answer(.failure(error))
                }
                done()
            }
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
