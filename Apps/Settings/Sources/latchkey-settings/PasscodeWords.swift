// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts of the page about the passcode.
enum PasscodeWords {
    static let isSet = words("A Passcode Is Set")
    static let isNotSet = words("No Passcode Is Set")
    static let stateName = words("State of the passcode")
    static let actionsName = words("What you can do")
    static let setTitle = words("_Set a passcode")
    static let changeTitle = words("_Change the passcode")
    static let changeText = words("The prompt asks for the old passcode, then for the new one twice.")
    static let changeAccountText = words(
        """
        It changes with the password of your account, in the system’s settings. The next prompt then asks for the new one \
        and once for the previous one.
        """)
    static let checkTitle = words("Ch_eck that you remember the passcode")
    static let enterTitle = words("_Enter the passcode")
    static let checkText = words("The prompt asks for it once. Nothing changes.")
    static let sensorLocked = words("The sensor is ignored after too many tries. Enter the passcode to use it again.")
    static let checkReason = words("check that you know the passcode")
    static let removeTitle = words("_Remove the passcode")
    static let removeText = words("Shows first which items are deleted or become unreadable.")
    static let removeQuestion = words("Remove the Passcode?")
    static let removeAgree = words("_Remove")
    static let wasSet = words("The passcode is set.")
    static let wasChanged = words("The passcode was changed.")
    static let wasRight = words("The passcode is right.")
    static let wasRemoved = words("The passcode was removed.")

    /// What the user has to type to set a first passcode.
    static func setText(_ overview: KeychainOverview) -> String {
        if overview.passcode == .account {
            return words("The prompt that appears asks for the password of your account, which becomes the passcode.")
        }
        return words(
            """
            At least \(overview.passcodeCharacters) characters; 8 or more are better. It need not be your login password. Nobody can \
            recover it if you forget it.
            """)
    }

    static func state(_ overview: KeychainOverview) -> String {
        guard overview.isPasscodeSet else {
            return words(
                """
                Latchkey keeps the passwords and keys of your apps in a keychain on this computer. With a passcode, apps can ask \
                whether it is you.
                """)
        }
        if overview.passcode == .account {
            return overview.protection == .chip
                ? words(
                    """
                    It is the password of your account. A thief of the disk can guess it there without the security chip: \
                    choose a long one.
                    """)
                : words("It is the password of your account. The system’s service checks it and limits wrong tries.")
        }
        return switch overview.protection {
        case .chip: words("The computer’s security chip checks it and limits wrong tries.")
        case .services: words("The system’s service checks it and limits wrong tries.")
        case .user: words("It is Latchkey’s own and need not be your login password.")
        case .simulated: words("This is a simulated keychain for tests, which protects nothing.")
        }
    }

    static func removeUncounted(_ protection: KeychainOverview.Protection?) -> String {
        let items = words(
            "Items that need a passcode are deleted. Other protected items cannot be read until a passcode is set again."
        )
        guard protection == .chip else { return items }
        return items + " " + words("Private keys in the security chip that need the passcode cannot be used any more.")
    }

    static func removeConsequences(deleted: [StoredItem], unreadable: [StoredItem]) -> String {
        var lines = [words("No item is deleted.")]
        if !deleted.isEmpty {
            let first = words.count(
                deleted.count, "One item is deleted, because it needs a passcode.",
                "\(deleted.count) items are deleted, because they need a passcode.")
            lines = [first] + AppsWords.names(deleted)
        }
        guard !unreadable.isEmpty else { return lines.joined(separator: "\n") }
        lines.append(
            words.count(
                unreadable.count, "One item stays and cannot be read until a passcode is set again.",
                "\(unreadable.count) items stay and cannot be read until a passcode is set again."))
        return (lines + AppsWords.names(unreadable)).joined(separator: "\n")
    }
}
