// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts of the page about apps and their items.
enum AppsWords {
    static let search = words("Search Items")
    static let emptyTitle = words("No Items")
    static let empty = words("No app has stored anything yet. Passwords and keys of your apps appear here.")
    static let separateTitle = words("Each App Shows Its Own Items")
    static let nothingFound = words("No item matches.")
    static let noApp = words("Unknown App")
    static let noName = words("Item Without a Name")

    static let list = words("_Show All Items…")
    static let listAgain = words("_Show Again…")
    static let listedTitle = words("The items of all apps")
    static let isComplete = words("This is the list that you allowed. No secret is in it.")
    static let isOutdated = words("Items were added or deleted since you allowed this list.")

    /// Instead of a list, for which the system's services ask first.
    static func separate(_ overview: KeychainOverview) -> String {
        let count = Int(clamping: overview.itemCount)
        let first = words.count(
            count, "The system’s keychain has \(count) item.", "The system’s keychain has \(count) items.")
        let second =
            overview.isPasscodeSet
            ? words(
                """
                It tells an app about its own items only. With your finger or your passcode you allow this window to show \
                the names and rules of all items.
                """)
            : words(
                "It tells an app about its own items only. Set a passcode to see the names and rules of all items here."
            )
        return "\(first) \(second)"
    }

    static func wereListed(_ count: Int) -> String {
        words.count(count, "\(count) item is listed.", "\(count) items are listed.")
    }

    static func count(_ count: Int) -> String { words.count(count, "\(count) item", "\(count) items") }
    static func more(_ count: Int) -> String {
        words.count(
            count, "\(count) more item is not shown. Search to find it.",
            "\(count) more items are not shown. Search to find them.")
    }

    /// The name of an item, with its service or server.
    static func name(_ item: StoredItem) -> String {
        let name = item.name.isEmpty ? item.label : item.name
        // The command's default service says nothing.
        let place = item.place == item.app ? "" : item.place
        switch (name.isEmpty, place.isEmpty) {
        case (true, true): return noName
        case (false, true): return name
        case (true, false): return place
        case (false, false): return "\(name), \(place)"
        }
    }

    static func subtitle(_ item: StoredItem) -> String {
        let rule =
            switch item.rule {
            case .nothing: words("its app gets it while the keychain is unlocked")
            case .presence: words("needs your finger, your face or the passcode")
            case .biometry: words("needs your finger or your face")
            case .currentBiometry: words("needs a finger or face that was enrolled when it was stored")
            case .passcode: words("needs the passcode")
            case .appPassword: words("needs a password of its app")
            case .other: words("needs several proofs")
            }
        let kind = kind(item.kind)
        return item.staysHere
            ? words("\(kind): \(rule). Never leaves this computer") : "\(kind): \(rule)"
    }

    private static func kind(_ kind: StoredItem.Kind) -> String {
        switch kind {
        case .password: words("Password")
        case .internetPassword: words("Password of a website")
        case .privateKey: words("Private key")
        case .publicKey: words("Public key")
        case .certificate: words("Certificate")
        }
    }

    static func icon(_ kind: StoredItem.Kind) -> String {
        switch kind {
        case .password: "dialog-password-symbolic"
        case .internetPassword: "network-server-symbolic"
        case .privateKey, .publicKey: "channel-secure-symbolic"
        case .certificate: "application-certificate-symbolic"
        }
    }
}
