// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

extension AuditTrail {
    /// Decodes an entry; its event is nil when it cannot be opened.
    func line(_ entry: AuditEntry) throws(Failure) -> AuditLine {
        try opened(entry)?.line ?? AuditLine(sequence: entry.sequence)
    }

    /// Returns the store numbers of an entry; nil when it cannot be opened.
    func numbers(of entry: AuditEntry) throws(Failure) -> StoreNumbers? { try opened(entry)?.numbers }

    private func opened(_ entry: AuditEntry) throws(Failure) -> (line: AuditLine, numbers: StoreNumbers)? {
        guard let plain = try tree.auditKey.open(entry.sealed, authenticating: associatedData(entry.sequence)) else {
            return nil
        }
        return plain.withBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                return try reader.tuple(8) { (reader) throws(WireError) in
                    var line = AuditLine(sequence: entry.sequence, time: try reader.integer())
                    line.event = UInt8(exactly: try reader.unsigned()).flatMap(AuditEvent.init(rawValue:))
                    (line.item, line.answer) = Self.names(in: try reader.bytes(limit: 64))
                    line.caller = try reader.text()
                    line.processID = Int32(truncatingIfNeeded: try reader.integer())
                    line.count = try reader.unsigned()
                    if let ground = UInt8(exactly: try reader.unsigned()).flatMap(AuditGround.init) {
                        line.ground = ground
                    } else {
                        // Without its ground, the event could be shown as one that needed no proof.
                        line.event = nil
                    }
                    return (line, try StoreNumbers(&reader))
                }
            } catch {
                return nil
            }
        }
    }

    /// What an entry stores as its item: that of an answer is two identifiers.
    private static func names(in bytes: [UInt8]) -> (item: [UInt8], answer: [UInt8]) {
        guard bytes.count == 32 else { return (bytes, []) }
        let item = Array(bytes[..<16])
        return (item.allSatisfy { $0 == 0 } ? [] : item, Array(bytes[16...]))
    }

    /// Verifies the hash chain entry by entry.
    struct ChainVerifier {
        let trail: AuditTrail
        private(set) var sequence: Int64
        private var chain: [UInt8]

        /// Starts after the entry with that number, which must have been verified already; 0 starts at the beginning.
        init(_ trail: AuditTrail, after sequence: Int64, in store: any ItemReading) throws(Failure) {
            self.trail = trail
            self.sequence = sequence
            var known: [UInt8] = []
            if sequence > 0 {
                try store.forEachAuditEntry(after: sequence - 1) { (entry) throws(Failure) in
                    if entry.sequence == sequence { known = entry.chain }
                    return false
                }
            }
            chain = known
        }

        /// Verifies the next entry and continues after it in any case.
        /// - Returns: what is wrong with it, or nil.
        mutating func verify(_ entry: AuditEntry) throws(Failure) -> Finding? {
            let expected = sequence + 1
            let code = try trail.chainKey.code(chain + trail.associatedData(entry.sequence) + entry.sealed)
            sequence = entry.sequence
            chain = entry.chain
            if entry.sequence != expected { return Finding(.entryMissing, number: expected) }
            return code == entry.chain ? nil : Finding(.entryChanged, number: expected)
        }
    }
}

extension AuditLine {
    /// What an authentic entry says about the log itself; nil for all others.
    var finding: Finding? { event == .trailCut ? Finding(.trailWasCut, number: sequence) : nil }
}

extension Keychain {
    /// Returns a page of the audit log. If the request asks for verification, verifies the chain of the page and, when
    /// the page reaches the end of the log, that end.
    package func log(_ request: Request.Log) throws(Failure) -> AuditPage {
        try store.read { (store) throws(Failure) in
            let after = max(0, request.after)
            let limit = Int(min(request.limit, Limits.auditEntries))
            var page = AuditPage(lines: [], last: try store.lastAuditEntry()?.sequence ?? 0)
            var verifier = try AuditTrail.ChainVerifier(audit, after: after, in: store)
            try store.forEachAuditEntry(after: after) { (entry) throws(Failure) in
                guard page.lines.count < limit else { return false }
                let line = try audit.line(entry)
                if request.verifies { page.finding = try verifier.verify(entry) ?? line.finding }
                page.lines.append(line)
                return page.finding == nil
            }
            if request.verifies, page.finding == nil, limit > 0, page.lines.last?.sequence ?? after >= page.last {
                page.finding = try audit.checkEnd(in: store)
            }
            return page
        }
    }
    /// Whether a passcode may be set, by the newest entry of the audit log about one. Reads the whole log. An entry that is
    /// missing or cannot be opened may be the one that sets it.
    package var logMayHavePasscode: Bool {
        get throws(Failure) {
            var (maySet, next) = (false, Int64(1))
            try store.read { (store) throws(Failure) in
                try store.forEachAuditEntry(after: 0) { (entry) throws(Failure) in
                    let event = try audit.line(entry).event
                    if entry.sequence != next { maySet = true }
                    next = entry.sequence + 1
                    switch event {
                    case nil, .passcodeSet, .passcodeChanged, .trailCut: maySet = true
                    case .passcodeRemoved, .protectedDiscarded: maySet = false
                    default: break
                    }
                    return true
                }
            }
            return try isTrailCut() || maySet
        }
    }
}
