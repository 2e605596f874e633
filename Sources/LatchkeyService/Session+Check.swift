// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel

// What looks at much of the store runs on a thread of its own, in slices: neither the thread that polls nor the one that
// writes waits for it.

extension Session {
    /// A part of the audit trail, which is the user's: it names every app of the store.
    func log(_ request: Request.Log, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        service.parts.background.submit(.any) {
            do throws(Failure) {
                answer(.log(try keychain.log(request)))
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// Everything in the store, told slice by slice.
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
    /// Brings back what was put aside and authenticates again, slice by slice: a long quarantine holds up no writer.
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
    /// Findings of one frame.
    private static let findingsOfAFrame = 256

    /// The same in parts that fit a frame.
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
