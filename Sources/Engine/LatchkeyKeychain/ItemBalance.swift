// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Compares the rows with the audit log: detects rows that were removed, restored or replaced by an older version,
/// and entries that were cut off the end of the log.
struct ItemBalance {
    /// The 16 bytes of an item identifier, stored inline to avoid an allocation for each.
    private struct Name: Hashable {
        var high: UInt64
        var low: UInt64

        init?(_ bytes: [UInt8]) {
            guard bytes.count == 16 else { return nil }
            high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
            low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
        }

        var bytes: [UInt8] {
            [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        }
    }

    private var rows: [Name: Int64] = [:]
    /// Versions of the items according to the audit log.
    private var reported: [Name: Int64] = [:]
    /// Versions of the items whose rows are in the quarantine, according to the audit log.
    private var quarantined: [Name: Int64] = [:]
    /// Items with audit entries newer than the start of the check.
    private var moving: Set<Name> = []

    mutating func found(_ id: [UInt8], version: Int64) { if let name = Name(id) { rows[name] = version } }

    mutating func take(_ line: AuditLine, isNew: Bool) {
        guard let name = Name(line.answer.isEmpty ? line.item : line.answer) else { return }
        if isNew { moving.insert(name) }
        switch line.event {
        case .added: reported[name] = 1
        case .alwaysAllowed, .neverAllowed, .answerEnded:
            // About an item, unless it names the row of an answer.
            guard !line.answer.isEmpty else { break }
            reported[name] = line.event == .answerEnded ? nil : 1
        case .updated: reported[name]? += 1
        case .deleted, .invalidated: reported[name] = nil
        case .quarantined: quarantined[name] = reported.removeValue(forKey: name)
        // Only a quarantined item can be restored, and only once; any other row stays unexplained.
        case .restored: if let version = quarantined.removeValue(forKey: name) { reported[name] = version }
        default: break
        }
    }

    /// The differences between the rows and the audit log.
    var findings: [Finding] {
        var findings: [Finding] = []
        for (name, version) in reported where !moving.contains(name) {
            if let row = rows[name] {
                if row != version { findings.append(Finding(.itemOlder, number: row, item: name.bytes)) }
            } else {
                findings.append(Finding(.itemMissing, item: name.bytes))
            }
        }
        for name in rows.keys where reported[name] == nil && !moving.contains(name) {
            findings.append(Finding(.itemUnexplained, item: name.bytes))
        }
        return findings.sorted { ($0.kind.rawValue, $0.item.description) < ($1.kind.rawValue, $1.item.description) }
    }
}
