// SPDX-License-Identifier: Apache-2.0

/// Every label that a key is derived under, or that a seal or a code covers as associated data.
///
/// The bytes are part of the formats of the store and of a backup: a label that is edited derives another key, and nothing
/// that was sealed before opens any more. `Tests/Vectors/labels.tsv` holds a golden value for each.
package enum CryptographicLabel: String, CaseIterable, Sendable {
    // Keys derived from K_root.
    case header = "latchkey header v1"
    case anchor = "latchkey anchor v1"
    // Keys derived from U_auto.
    case metadata = "latchkey metadata v1"
    case index = "latchkey index v1"
    case audit = "latchkey audit v1"
    case record = "latchkey record v1"
    case counters = "latchkey counters v1"
    // Keys derived from those.
    case chain = "latchkey chain v1"
    case set = "latchkey set v1"
    case domain = "latchkey domain v1"
    // Keys around row keys.
    case accessibilityClass = "latchkey class v1"
    case wrap = "latchkey wrap v1"
    // Associated data.
    case attributes = "latchkey attributes v1"
    case secret = "latchkey secret v1"
    case reference = "latchkey reference v1"
    case backup = "latchkey backup v1"

    /// The bytes.
    package var bytes: [UInt8] { Array(rawValue.utf8) }
}

/// The first bytes of each file of ours that is no database: they name the format and its version.
package enum FileMark: String, CaseIterable, Sendable {
    case rootKey = "latchkey root 1\n"
    case anchor = "latchkey anchor 1\n"
    case counters = "latchkey counters 1\n"
    case backup = "LATCHKEY BACKUP"

    /// The bytes.
    package var bytes: [UInt8] { Array(rawValue.utf8) }
}

/// The names of the store's own records. A record is bound to its name, so these are part of the format as well.
package enum RecordName: String, CaseIterable, Sendable {
    case header = "header"
    case headerCode = "header.code"
    case automaticSlot = "slot.automatic"
    /// The passcode slot of the anchor file is bound to this name.
    case passcodeSlot = "slot.passcode"
    /// Store generation, faces, lock.
    case state = "state"
    case auditEnd = "audit.end"
}
