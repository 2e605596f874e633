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
    static let recovered = words(
        "The new passcode is set. The earlier recovery code is not valid any more; keep the new one apart from this computer."
    )
    static let unbound = words(
        "The keychain was refused before. Items that are bound to the enrolled fingers or faces stay unreadable.")
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
        let rest = [
            words(
                "What an app sealed with a deleted key cannot be read any more, unless a password of that app opens it as well."
            ),
            words("What is in a backup can be restored afterwards with its recovery code."),
        ]
        let lines = [first] + AppsWords.names(items ?? [])
        return "\(lines.joined(separator: "\n"))\n\n\(rest.joined(separator: " "))\n\n\(typeIt)"
    }

    static func recovered(_ recovery: KeychainControl.Recovery) -> String {
        var lines = [recovered]
        if recovery.accepted != nil { lines.append(unbound) }
        if recovery.lostCount > 0 {
            let count = Int(clamping: recovery.lostCount)
            lines.append(
                words.count(
                    count,
                    "One private key cannot be used any more. Delete it, and register a new one where it was used:",
                    "\(count) private keys cannot be used any more. Delete them, and register new ones where they were used:"
                ))
            lines += LeftOutWords.lines(recovery.lost, of: recovery.lostCount)
        }
        return lines.joined(separator: "\n")
    }
}
