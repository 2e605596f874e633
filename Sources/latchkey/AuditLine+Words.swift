// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

extension AuditLine {
    func cells(_ names: ItemNames) -> [String] {
        let name = [String(item.hexadecimal.prefix(8)), names[item] ?? ""].filter { !$0.isEmpty }
        return [
            "\(sequence)", when, count > 1 ? "\(words) x\(count)" : words, name.joined(separator: " "), caller,
            processID == 0 ? "" : "\(processID)",
        ]
    }

    /// The entry as JSON; `names` is nil when the output has no names of items.
    func json(_ names: ItemNames?) -> JSON {
        .object([
            ("entry", .number(sequence)), ("time", event == nil ? .null : .text(when)),
            ("event", event.map { .text("\($0)") } ?? .null),
            ("item", item.isEmpty ? .null : .text(item.hexadecimal)),
            ("name", names?[item].map { .text($0) } ?? .null),
            ("caller", caller.isEmpty ? .null : .text(caller)),
            ("process", processID == 0 ? .null : .number(Int64(processID))),
            ("count", .number(Int64(clamping: count))),
        ])
    }

    private var words: String {
        switch event {
        case nil: "cannot be read"
        case .added: "added"
        case .updated: "updated"
        case .deleted: "deleted"
        case .used: "used"
        case .refused: "refused"
        case .invalidated: "invalidated"
        case .passcodeSet: "passcode set"
        case .passcodeChanged: "passcode changed"
        case .passcodeRemoved: "passcode removed"
        case .enrolmentChanged: "enrolment changed"
        case .rollbackAccepted: "rollback accepted"
        case .countersLost: "counters lost"
        case .quarantined: "quarantined"
        case .restored: "restored"
        case .exported: "exported"
        case .imported: "imported"
        case .tryFailed: "wrong try"
        case .rowsChanged: "rows changed"
        case .locked: "locked"
        case .unlocked: "unlocked"
        case .facePermissionChanged: "face answer"
        case .lockedOut: "locked out"
        case .protectedDiscarded: "discarded"
        case .anchored: "anchored"
        case .migrationAllowed: "move allowed"
        case .migrated: "moved here"
        case .movedAway: "moved away"
        case .deviceIdentified: "identified"
        case .keyAttested: "attested"
        case .sensorRefused: "sensor refused"
        case .sessionsRefused: "sessions refused"
        }
    }

    /// The time in UTC, in the format of RFC 3339, to the second; empty for an entry that cannot be read.
    var when: String { event == nil ? "" : Self.moment(time) }

    /// Microseconds since 1970-01-01 UTC in the format of RFC 3339.
    static func moment(_ time: Int64) -> String {
        var seconds = time_t(time / 1_000_000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "" }
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension [UInt8] {
    var hexadecimal: String {
        map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
