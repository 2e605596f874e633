// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeyWords

extension AuditLine {
    func cells(_ names: ItemNames) -> [String] {
        let name = [String(item.hexadecimal.prefix(8)), names[item] ?? ""].filter { !$0.isEmpty }
        return [
            "\(sequence)", when, count > 1 ? "\(words) x\(count)" : words, name.joined(separator: " "), caller, process,
            how,
        ]
    }

    /// How a use was allowed, why the program was refused, or what was tried in vain; empty for other events.
    private var how: String {
        switch (event, ground) {
        case (.used, .allowed([])): localized("no question", context: "ground")
        case (_, .allowed(let grounds)):
            UseGrounds.each.filter { grounds.contains($0) }.map { $0.text(localized) }.joined(separator: ", ")
        case (_, .refused(let reason)): reason.text(localized)
        case (_, .failed(let proof)): proof.text(localized)
        }
    }

    /// The process that asked; an entry that counts the requests of several names none.
    private var process: String {
        guard processID == 0 else { return "\(processID)" }
        return count > 1 && [.used, .refused].contains(event) ? localized("several", context: "processes") : ""
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
            ("count", .number(Int64(clamping: count))), ("allowed", allowed), ("refused", refused),
            ("tried", tried),
        ])
    }

    private var allowed: JSON {
        guard case .allowed(let grounds) = ground, event == .used || !grounds.isEmpty else { return .null }
        return .array(UseGrounds.each.filter { grounds.contains($0) }.map { .text($0.code) })
    }

    private var refused: JSON {
        guard case .refused(let reason) = ground else { return .null }
        return .text("\(reason)")
    }

    private var tried: JSON {
        guard case .failed(let proof) = ground else { return .null }
        return .text("\(proof)")
    }

    private var words: String { event?.text(localized) ?? localized("cannot be read", context: "event") }

    /// The time in UTC, in the format of RFC 3339, to the second; empty for an entry that cannot be read.
    var when: String { event == nil ? "" : Self.moment(time) }

    /// Microseconds since 1970-01-01 UTC in the format of RFC 3339.
    static func moment(_ time: Int64) -> String { text(time, "%Y-%m-%dT%H:%M:%SZ", gmtime_r) }

    /// The day of a time in microseconds since 1970-01-01 UTC, in the user's time zone.
    static func day(_ time: Int64) -> String { text(time, "%Y-%m-%d", localtime_r) }

    private static func text(
        _ time: Int64, _ format: String,
        _ split: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) -> String {
        var seconds = time_t(time / 1_000_000)
        var parts = tm()
        guard split(&seconds, &parts) != nil else { return "" }
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, format, &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension AuditEvent {
    /// The event as the table shows it: one or two words, since the app and the item have columns of their own. The
    /// context distinguishes it from the state of a keychain, such as "locked".
    func text(_ words: Words) -> String {
        switch self {
        case .added: words("added", context: "event")
        case .updated: words("updated", context: "event")
        case .deleted: words("deleted", context: "event")
        case .used: words("used", context: "event")
        case .refused: words("refused", context: "event")
        case .invalidated: words("invalidated", context: "event")
        case .passcodeSet: words("passcode set", context: "event")
        case .passcodeChanged: words("passcode changed", context: "event")
        case .passcodeRemoved: words("passcode removed", context: "event")
        case .enrollmentChanged: words("enrolment changed", context: "event")
        case .rollbackAccepted: words("rollback accepted", context: "event")
        case .countersLost: words("counters lost", context: "event")
        case .quarantined: words("quarantined", context: "event")
        case .restored: words("restored", context: "event")
        case .exported: words("backup created", context: "event")
        case .imported: words("backup restored", context: "event")
        case .tryFailed: words("wrong try", context: "event")
        case .rowsChanged: words("rows changed", context: "event")
        case .trailCut: words("log cut", context: "event")
        case .locked: words("locked", context: "event")
        case .unlocked: words("unlocked", context: "event")
        case .facePermissionChanged: words("face answer", context: "event")
        case .lockedOut: words("locked out", context: "event")
        case .protectedDiscarded: words("discarded", context: "event")
        case .anchored: words("anchored", context: "event")
        case .migrationAllowed: words("move allowed", context: "event")
        case .migrated: words("moved here", context: "event")
        case .movedAway: words("moved away", context: "event")
        case .deviceIdentified: words("identified", context: "event")
        case .keyAttested: words("attested", context: "event")
        case .sensorRefused: words("sensor refused", context: "event")
        case .accountsRefused: words("account refused", context: "event")
        case .sessionsRefused: words("sessions refused", context: "event")
        case .namesListed: words("names listed", context: "event")
        case .alwaysAllowed: words("always allowed", context: "event")
        case .neverAllowed: words("never allowed", context: "event")
        case .allowedUntilLogout: words("session allowed", context: "event")
        case .answerEnded: words("answer ended", context: "event")
        }
    }
}

extension UseGrounds {
    /// One ground in the output for programs.
    fileprivate var code: String {
        switch self {
        case .finger: "finger"
        case .face: "face"
        case .passcode: "passcode"
        case .appPassword: "appPassword"
        case .agreed: "agreed"
        case .always: "always"
        default: "untilLogout"
        }
    }

    /// One ground as the table shows it.
    fileprivate func text(_ words: Words) -> String {
        switch self {
        case .finger: words("finger", context: "ground")
        case .face: words("face", context: "ground")
        case .passcode: words("passcode", context: "ground")
        case .appPassword: words("app's password", context: "ground")
        case .agreed: words("allowed once", context: "ground")
        case .always: words("always allowed", context: "ground")
        default: words("until logout", context: "ground")
        }
    }
}

extension TriedProof {
    /// What was tried, as the table shows it.
    fileprivate func text(_ words: Words) -> String {
        switch self {
        case .finger: words("finger", context: "ground")
        case .face: words("face", context: "ground")
        case .passcode: words("passcode", context: "ground")
        case .accountPassword: words("account password", context: "ground")
        }
    }
}

extension RefusalReason {
    /// The reason as the table shows it; empty where none is known.
    fileprivate func text(_ words: Words) -> String {
        switch self {
        case .other: ""
        case .cancelled: words("cancelled", context: "ground")
        case .fallback: words("another way chosen", context: "ground")
        case .notRecognized: words("not recognised", context: "ground")
        case .lockedOut: words("too many wrong tries", context: "ground")
        case .noPrompt: words("no prompt possible", context: "ground")
        case .locked: words("keychain locked", context: "ground")
        case .never: words("never allowed", context: "ground")
        case .wrongAppPassword: words("wrong app's password", context: "ground")
        case .replaced: words("no longer enrolled", context: "ground")
        case .notSetUp: words("not set up", context: "ground")
        case .otherApp: words("group of another app", context: "ground")
        case .ended: words("ended before an answer", context: "ground")
        }
    }
}

extension [UInt8] {
    var hexadecimal: String { map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() }
}
