// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts of the page about apps and their items.
enum AppsWords {
    static let search = words("Search Items")
    static let emptyTitle = words("No Items")
    static let empty = words("No app has stored anything yet. Passwords and keys of your apps appear here.")
    static let separateTitle = words("Each App Shows Its Own Items")
    static let nothingFound = words("No item matches. Search for another word.")
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
    static func name(_ item: StoredItem) -> String { item.title.isEmpty ? noName : item.title }

    /// The names of items for a question about them, a line for each app: of at most ten items, and how many there are more.
    static func names(_ items: [StoredItem]) -> [String] {
        let shown = items.prefix(10)
        let apps = Dictionary(grouping: shown, by: \.app).sorted { $0.key < $1.key }
        let lines = apps.map { group, items in
            let names = items.map { item in
                let name = name(item)
                return "“\(name.count > 60 ? name.prefix(59) + "…" : name)”"
            }
            return words("\(app(group, nil)): \(names.joined(separator: ", "))")
        }
        return items.count > shown.count ? lines + [LeftOutWords.more(items.count - shown.count)] : lines
    }

    /// The name of an app by its access group.
    static func app(_ group: String, _ installed: InstalledApp?) -> String {
        if let installed { return installed.name.asShownLine }
        if group.isEmpty { return noApp }
        // The access group of the Secret Service (docs/use/secret-service.md).
        if group == "org.freedesktop.secrets" { return words("Secrets of Programs") }
        // The groups of the system's services (docs/reference/identity.md).
        if group.hasPrefix("user:") { return words("Programs That Are Not Told Apart") }
        if group.hasPrefix("unit:") {
            let unit = String(group.dropFirst("unit:".count).split(separator: ".").first ?? "")
            return words("System service \(unit.asShownLine)")
        }
        return (group.hasPrefix("/") ? String(group.split(separator: "/").last ?? "") : group).asShownLine
    }

    static let delete = words("_Delete…")
    static let deleteAgree = words("_Delete")
    static let deleting = words("Deleting…")

    static let deleteQuestion = words("Delete This Item?")
    static func deleteConsequence(_ item: StoredItem, app: String) -> String {
        let lines = [
            item.staysHere
                ? words("“\(name(item))” will be deleted, and \(app) can no longer use it. No backup contains it.")
                : words(
                    "“\(name(item))” will be deleted, and \(app) can no longer use it. Only a backup brings it back."),
            item.appComment.isEmpty ? "" : words("\(app) says about it: “\(item.appComment)”"),
            words("If it is content of the app, such as a note, delete it in the app instead."),
        ]
        return lines.filter { !$0.isEmpty }.joined(separator: " ") + "\n\n" + ForgottenWords.typeIt
    }
    static func wasDeleted(_ item: StoredItem) -> String { words("“\(name(item))” was deleted.") }

    /// What is known of an item, one line each.
    static func facts(_ item: StoredItem, app: String) -> String {
        let kind = item.appKind.isEmpty ? kind(item.kind) : words("“\(item.appKind)”, as its app says")
        var lines = [words("App: \(app)"), words("Kind: \(kind)"), words("Access: \(rule(item))")]
        if !item.label.isEmpty, item.label != item.name, !item.name.isEmpty {
            lines.append(words("Name for the app: \(item.name)"))
        }
        if let time = item.storedTime { lines.append(words("Stored: \(ActivityWords.moment(time / 1_000_000))")) }
        if item.app != app, !item.app.isEmpty { lines.append(words("Access group: \(item.app.asShownLine)")) }
        if item.staysHere { lines.append(words("It never leaves this computer, not even in a backup.")) }
        return lines.joined(separator: "\n")
    }

    ///
    /// - Parameter isOfPair: whether the other key of a pair is stored, too.
    static func subtitle(_ item: StoredItem, isOfPair: Bool = false) -> String {
        // In quotation marks, as a name: the words of an app must not look like those of Latchkey.
        let kind = item.appKind.isEmpty ? kind(item.kind, isOfPair: isOfPair) : words("“\(item.appKind)”")
        let rule = rule(item)
        return item.staysHere
            ? words("\(kind): \(rule). Never leaves this computer") : "\(kind): \(rule)"
    }

    private static func rule(_ item: StoredItem) -> String {
        switch item.rule {
        case .nothing where item.isEncryptedByApp:
            words("its app says that it is encrypted, and gets it without asking you")
        case .nothing: words("its app gets it without asking you, while the keychain is unlocked")
        case .presence: words("needs your finger, your face or the passcode")
        case .biometry: words("needs your finger or your face")
        case .currentBiometry: words("needs a finger or face that was enrolled when it was stored")
        case .passcode: words("needs the passcode")
        case .appPassword: words("needs a password of its app")
        case .other: words("needs several proofs")
        }
    }

    private static func kind(_ kind: StoredItem.Kind, isOfPair: Bool = false) -> String {
        switch kind {
        case .privateKey where isOfPair: words("Private key of a pair")
        case .publicKey where isOfPair: words("Public key of a pair")
        case .password: words("Password")
        case .internetPassword: words("Password of a website")
        case .privateKey: words("Private key")
        case .publicKey: words("Public key")
        case .certificate: words("Certificate")
        case .secret: words("Secret of a program")
        }
    }

    static func icon(_ item: StoredItem) -> String {
        switch item.kind {
        case .password where !item.appKind.isEmpty: "text-x-generic-symbolic"
        case .password, .secret: "dialog-password-symbolic"
        case .internetPassword: "network-server-symbolic"
        case .privateKey, .publicKey: "channel-secure-symbolic"
        case .certificate: "application-certificate-symbolic"
        }
    }
}
