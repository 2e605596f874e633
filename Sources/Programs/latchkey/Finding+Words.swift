// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords

extension Finding {
    /// The item as a part of a sentence.
    ///
    /// - Parameter context: the place in the sentence, on which its form depends in some languages.
    private func name(_ words: Words, context: String) -> String {
        item.isEmpty
            ? words("an item", context: context)
            : words("item \(String(item.hexadecimal.prefix(8)))", context: context)
    }

    /// The finding as a sentence.
    ///
    /// - Parameter words: the language, which is English in JSON.
    func sentence(_ words: Words) -> String {
        let (name, owner) = (name(words, context: "subject"), name(words, context: "of"))
        let capitalized = name.prefix(1).uppercased() + name.dropFirst()
        return switch kind {
        // SQLite describes a damage in English.
        case .database: words("The database is damaged: \(self.words).")
        case .attributesDamaged: words("Row \(number), \(name): its attributes fail authentication.")
        case .secretDamaged: words("Row \(number), \(name): its secret fails authentication.")
        case .indexWrong:
            words("Row \(number), \(name): its index does not match its attributes; searches may miss it.")
        case .itemMissing: words("The row of \(owner) is missing, although the audit log has no deletion of it.")
        case .itemUnexplained:
            words("A row of \(owner) exists, but the audit log has no addition of it or has its deletion.")
        case .itemOlder: words("The row of \(owner) is older than the last change in the audit log.")
        case .unlisted: words("\(number) more findings are not listed.")
        case .recordChanged: words("The record \(self.words) was changed.")
        case .anchor: words(self.words)
        case .setChanged:
            words("The rows are not those that were stored: some were put back, changed or removed.")
        case .entryMissing: words("The audit log breaks at entry \(number): it is missing.")
        case .entryChanged: words("The audit log breaks at entry \(number): it was changed or moved.")
        case .trailCut: words("The audit log ends before entry \(number), which was written.")
        case .trailEndUnknown: words("The record of the last entry of the audit log was removed or changed.")
        case .trailWasCut:
            words("Entries before entry \(number) of the audit log were cut off, or the record of its end was changed.")
        case .quarantined: words("\(capitalized) was damaged and is quarantined (entry \(number)).")
        case .restored: words("\(capitalized) was restored (quarantined at entry \(number)).")
        case .placeTaken:
            words("\(capitalized) stays quarantined (entry \(number)): another item has its name.")
        case .asideUnexplained:
            words("\(capitalized) stays quarantined: the audit log has no entry of its quarantine.")
        }
    }

    func hint(_ words: Words) -> String {
        switch kind {
        case .database, .recordChanged, .anchor:
            words("Copy the store's folder first; then restore it as a whole from a backup.")
        case .unlisted: words("Follow the hints above, then check again.")
        case .attributesDamaged, .secretDamaged:
            words("Searches treat it as absent. Store the secret again, or restore the folder from a backup.")
        case .indexWrong: words("Get it by its full name and store it again with --replace.")
        case .setChanged:
            words(
                """
                keychain.sqlite was changed without the daemon. To accept the rows as they are: latchkey check --accept
                """)
        case .itemMissing, .itemUnexplained, .itemOlder:
            words(
                """
                keychain.sqlite was changed without the daemon. Change that secret where it is used, and store it again.
                """)
        case .entryMissing, .entryChanged, .trailCut, .trailEndUnknown, .trailWasCut:
            words("keychain.sqlite was changed without the daemon. Do not rely on its entries of that time.")
        case .quarantined:
            words("Store the secret again, or put the right files of the store back and use: latchkey check --restore")
        case .restored: words("It can be read again.")
        case .placeTaken: words("Delete or rename the other item first, then use: latchkey check --restore")
        case .asideUnexplained:
            words("keychain.sqlite was changed without the daemon. Store the secret again; the row is left as it is.")
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
            ("item", item.isEmpty ? .null : .text(item.hexadecimal)), ("message", .text(sentence(.plainEnglish))),
            ("hint", .text(hint(.plainEnglish))),
        ])
    }
}
