// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Finding {
    private var name: String { item.isEmpty ? "an item" : "item \(String(item.hexadecimal.prefix(8)))" }

    private var capitalized: String { name.prefix(1).uppercased() + name.dropFirst() }

    /// What it is, for a person.
    var sentence: String {
        switch kind {
        case .database: "The database is damaged: \(words)."
        case .attributesDamaged: "Row \(number), \(name): its attributes fail authentication."
        case .secretDamaged: "Row \(number), \(name): its secret fails authentication."
        case .indexWrong: "Row \(number), \(name): its index is another item's, and searches may miss it."
        case .itemMissing: "The trail says that there is \(name), and its row is gone."
        case .itemUnexplained: "The trail does not say that \(name) was added, or says that it is gone."
        case .itemOlder: "There is an older version of \(name) than the trail says."
        case .unlisted: "\(number) more findings are not listed."
        case .recordChanged: "The record \(words) was changed."
        case .anchor: words
        case .setChanged: "The rows are not those that were stored: some were put back, changed or taken out."
        case .entryMissing: "The trail breaks at entry \(number): it is missing."
        case .entryChanged: "The trail breaks at entry \(number): it was changed, or stands in another's place."
        case .trailCut: "The trail breaks at entry \(number): it was written, and the trail ends before it."
        case .trailEndUnknown: "The record of where the trail ends was taken away or changed."
        case .quarantined:
            "\(capitalized) was damaged and is kept aside (entry \(number))."
        case .restored: "\(capitalized) is back in its place (put aside at entry \(number))."
        case .placeTaken: "\(capitalized) is whole and stays aside (entry \(number)): another item has its name."
        case .asideUnexplained: "\(capitalized) stays aside: the trail does not say that it was put there."
        }
    }

    /// What to do about it.
    var hint: String {
        switch kind {
        case .database, .recordChanged, .anchor:
            "Copy the store's folder first; then restore it as a whole from a backup."
        case .unlisted: "Do what is said above, then check again."
        case .attributesDamaged, .secretDamaged:
            "It is as if it were absent. Store the secret again, or restore the folder from a backup."
        case .indexWrong: "Get it by its full name and store it again with --replace."
        case .setChanged:
            "keychain.sqlite was changed without the daemon. Take the rows as they are with: latchkey check --accept"
        case .itemMissing, .itemUnexplained, .itemOlder:
            "Someone changed keychain.sqlite without the daemon. Change that secret where it is used, and store it again."
        case .entryMissing, .entryChanged, .trailCut, .trailEndUnknown:
            "Someone changed keychain.sqlite without the daemon. What it says of that time is not to be trusted."
        case .quarantined:
            "Store the secret again, or put the right files of the store back and use: latchkey check --restore"
        case .restored: "It can be read again."
        case .placeTaken: "Delete or rename the other item first, then use: latchkey check --restore"
        case .asideUnexplained:
            "Someone changed keychain.sqlite without the daemon. Store the secret again; the row is left as it is."
        }
    }

    /// Whether something has to be done: what was put aside is out of the way already.
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
