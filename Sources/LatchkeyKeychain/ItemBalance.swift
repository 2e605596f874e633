// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Compares the rows with what the audit trail says of them: a row that was taken out, put back or exchanged for an
/// older version shows here, and so does a trail whose end was cut off.
struct ItemBalance {
    /// The 16 bytes that name an item, without a block of memory for each.
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
    private var told: [Name: Int64] = [:]
    /// The same of items whose rows were put aside.
    private var aside: [Name: Int64] = [:]
    /// Items that were touched while the check went on.
    private var moving: Set<Name> = []

    /// There is such a row.
    mutating func found(_ id: [UInt8], version: Int64) {
        if let name = Name(id) { rows[name] = version }
    }

    /// The trail says so.
    mutating func take(_ line: AuditLine, isNew: Bool) {
        guard let name = Name(line.item) else { return }
        if isNew { moving.insert(name) }
        switch line.event {
        case .added: told[name] = 1
        case .updated: told[name]? += 1
        case .deleted, .invalidated: told[name] = nil
        case .quarantined: aside[name] = told.removeValue(forKey: name)
        // Only what was put aside comes back, and once: the trail explains no other row.
        case .restored: if let version = aside.removeValue(forKey: name) { told[name] = version }
        default: break
        }
    }

    /// Where the two differ.
    var findings: [Finding] {
        var findings: [Finding] = []
        for (name, version) in told where !moving.contains(name) {
            if let row = rows[name] {
                if row != version { findings.append(Finding(.itemOlder, number: row, item: name.bytes)) }
            } else {
                findings.append(Finding(.itemMissing, item: name.bytes))
            }
        }
        for name in rows.keys where told[name] == nil && !moving.contains(name) {
            findings.append(Finding(.itemUnexplained, item: name.bytes))
        }
        return findings.sorted { ($0.kind.rawValue, $0.item.description) < ($1.kind.rawValue, $1.item.description) }
    }
}
