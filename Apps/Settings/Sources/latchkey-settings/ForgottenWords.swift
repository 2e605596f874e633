// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts about a forgotten passcode.
enum ForgottenWords {
    static let name = words("If You Forgot It")
    static let title = words("I _forgot the passcode")
    static let useCodeTitle = words("_Use the recovery code that I wrote down")
    static let text = words(
        "It cannot be recovered, not with a finger either. You can delete it, with every item that it protects."
    )
    static let accountText = words(
        """
        If the prompt asks for a previous password of your account that you forgot, you can delete the passcode, with every \
        item that it protects.
        """)
    static let codeText = words("It opens the keychain without the passcode. You choose a new passcode.")
    static let noCodeTitle = words("I have neither passcode _nor recovery code")
    static let noCodeText = words("You can delete the passcode, with every item that it protects.")
    static let question = words("Delete the Passcode and What It Protects?")
    static let agree = words("_Delete")
    static let deleting = words("Deleting…")
    static let wereDeleted = words("The passcode and the protected items were deleted.")
    private static let recovered = words("The new passcode is set.")
    private static let newCode = words(
        "The earlier recovery code is not valid any more. Keep the new one apart from this computer.")
    private static let accepted = words("The keychain is used again.")
    private static let unbound = words("Items that are bound to the enrolled fingers or faces stay unreadable.")
    /// The word that the user types, so that no items are deleted by accident.
    static let word = words("delete", context: "typed to confirm")
    static let typeIt = words("Type “\(word)” to go on.")

    static let uncounted = words(
        """
        Every item that needs a finger, a face or the passcode is deleted, also keys. Other items stay. It cannot be undone.
        """)

    /// What is deleted; nil if the items are not known.
    static func consequences(_ items: [StoredItem]?) -> String {
        let first =
            switch items?.count {
            case nil: uncounted
            case 0?: words("No item is deleted.")
            case let count?:
                words.count(
                    count, "One protected item is deleted. Other items stay. It cannot be undone.",
                    "\(count) protected items are deleted. Other items stay. It cannot be undone.")
            }
        var parts = [first]
        let (found, gone) = ((items ?? []).filter(\.isInBackups), (items ?? []).filter { !$0.isInBackups })
        if !found.isEmpty {
            parts.append(
                ([words("Only a backup that you made can bring back:")] + AppsWords.names(found)).joined(
                    separator: "\n"))
        }
        if !gone.isEmpty {
            parts.append(([words("No backup can bring back:")] + AppsWords.names(gone)).joined(separator: "\n"))
        }
        if items == nil { parts.append(backups) }
        if items == nil || !gone.isEmpty { parts.append(sealed) }
        return (parts + [typeIt]).joined(separator: "\n\n")
    }

    private static let backups = words(
        "A backup that you made brings back what it contains. It contains nothing that must stay on this computer.")
    private static let sealed = words(
        """
        What an app sealed with a key that no backup brings back, such as notes, cannot be read any more, unless a password \
        of that app opens it as well.
        """)

    /// What a recovery code has opened, and what it could not.
    static func report(_ recovery: KeychainControl.Recovery) -> [Operation.Outcome.Line] {
        var lines = [Operation.Outcome.Line(words: recovered, more: newCode)]
        if recovery.accepted != nil {
            lines.append(Operation.Outcome.Line(words: accepted, more: unbound, mark: .warning))
        }
        guard recovery.lostCount > 0 else { return lines }
        let count = Int(clamping: recovery.lostCount)
        let words = words.count(
            count, "One private key cannot be used any more. Delete it, and register a new one where it was used.",
            "\(count) private keys cannot be used any more. Delete them, and register new ones where they were used.")
        let names = LeftOutWords.lines(recovery.lost, of: recovery.lostCount).joined(separator: "\n")
        lines.append(Operation.Outcome.Line(words: words, more: names, mark: .warning))
        return lines
    }
}
