// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Finding {
    private var name: String { item.isEmpty ? "an item" : "item \(String(item.hexadecimal.prefix(8)))" }

    private var capitalized: String { name.prefix(1).uppercased() + name.dropFirst() }

    /// The finding as a sentence.
    var sentence: String {
        switch kind {
        case .database: "The database is damaged: \(words)."
        case .attributesDamaged: "Row \(number), \(name): its attributes fail authentication."
        case .secretDamaged: "Row \(number), \(name): its secret fails authentication."
        case .indexWrong: "Row \(number), \(name): its index does not match its attributes; searches may miss it."
        case .itemMissing: "The row of \(name) is missing, although the audit log has no deletion of it."
        case .itemUnexplained: "A row of \(name) exists, but the audit log has no addition of it or has its deletion."
        case .itemOlder: "The row of \(name) is older than the last change in the audit log."
        case .unlisted: "\(number) more findings are not listed."
        case .recordChanged: "The record \(words) was changed."
        case .anchor: words
        case .setChanged: "The rows are not those that were stored: some were put back, changed or removed."
        case .entryMissing: "The audit log breaks at entry \(number): it is missing."
        case .entryChanged: "The audit log breaks at entry \(number): it was changed or moved."
        case .trailCut: "The audit log ends before entry \(number), which was written."
        case .trailEndUnknown: "The record of the last entry of the audit log was removed or changed."
        case .quarantined:
            "\(capitalized) was damaged and is quarantined (entry \(number))."
        case .restored: "\(capitalized) was restored (quarantined at entry \(number))."
        case .placeTaken: "\(capitalized) stays quarantined (entry \(number)): another item has its name."
        case .asideUnexplained: "\(capitalized) stays quarantined: the audit log has no entry of its quarantine."
        }
    }

    /// What to do about the finding.
    var hint: String {
        switch kind {
        case .database, .recordChanged, .anchor:
            "Copy the store's folder first; then restore it as a whole from a backup."
        case .unlisted: "Follow the hints above, then check again."
        case .attributesDamaged, .secretDamaged:
            "Searches treat it as absent. Store the secret again, or restore the folder from a backup."
        case .indexWrong: "Get it by its full name and store it again with --replace."
        case .setChanged:
            "keychain.sqlite was changed without the daemon. To accept the rows as they are: latchkey check --accept"
        case .itemMissing, .itemUnexplained, .itemOlder:
            "keychain.sqlite was changed without the daemon. Change that secret where it is used, and store it again."
        case .entryMissing, .entryChanged, .trailCut, .trailEndUnknown:
            "keychain.sqlite was changed without the daemon. Do not rely on its entries of that time."
        case .quarantined:
            "Store the secret again, or put the right files of the store back and use: latchkey check --restore"
        case .restored: "It can be read again."
        case .placeTaken: "Delete or rename the other item first, then use: latchkey check --restore"
        case .asideUnexplained:
            "keychain.sqlite was changed without the daemon. Store the secret again; the row is left as it is."
        }
    }

    /// Whether the finding is a problem; quarantined and restored rows are not.
    var isFault: Bool {
        switch kind {
        case .quarantined, .restored, .placeTaken: false
        default: true
        }
    }

    var json: JSON {
        .object([
            ("kind", .text("\(kind)")), ("number", .number(number)),
            ("item", item.isEmpty ? .null : .text(item.hexadecimal)), ("message", .text(sentence)),
            ("hint", .text(hint)),
        ])
    }
}
