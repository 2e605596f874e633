// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel

extension Keychain {
    /// Returns all findings of a check.
    func findings() throws(Failure) -> [Finding] {
        var check = StoreCheck(self)
        var findings: [Finding] = []
        while true {
            let report = try check.next()
            findings += report.findings
            if !report.more { return findings }
        }
    }

    /// Returns the audit log up to the first break of its chain, and that break.
    func trail(verifies: Bool = true, part: UInt64 = Limits.auditEntries) throws(Failure) -> ([AuditLine], Finding?) {
        var lines: [AuditLine] = []
        while true {
            let page = try log(Request.Log(after: lines.last?.sequence ?? 0, limit: part, verifies: verifies))
            lines += page.lines
            guard page.finding == nil, !page.lines.isEmpty, page.last > (lines.last?.sequence ?? 0) else {
                return (lines, page.finding)
            }
        }
    }
}
