// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop

/// The texts of the page about activity.
enum ActivityWords {
    static let search = words("Search")
    static let filter = words("App")
    static let allApps = words("All Apps")
    static let older = words("Show _Older")
    static let showNames = words("Show _Names of Items…")
    static let emptyTitle = words("Nothing Here")
    static let empty = words("No app has used your keychain yet. What apps ask for appears here.")
    static let nothingFound = words("No entry matches. Search for another word, or choose All Apps.")
    static let showItem = words("Show the _Item…")

    /// What happened, with the app and the item.
    ///
    /// - Parameters:
    ///   - item: the name of the item; nil if it is not known.
    ///   - owner: the name of the app that stored the item; nil if it is not known.
    ///   - isDeleted: whether the item does not exist any more, as far as that is known.
    static func sentence(
        _ entry: ActivityEntry, app: String, item: String?, owner: String?, isDeleted: Bool
    ) -> String {
        let app = app.isEmpty ? "Latchkey" : app
        // That an item is gone needs no mention where it is deleted.
        let isGone = isDeleted && entry.event != .deleted
        let one =
            item.map { isGone ? words("“\($0)”, which is deleted") : words("“\($0)”") }
            ?? unnamed(of: owner, by: app, isGone: isGone)
        let text =
            switch entry.event {
            case nil: words("An entry that cannot be read")
            case .added: words("\(app) stored \(one)")
            case .updated: words("\(app) changed \(one)")
            case .deleted where entry.item.isEmpty: words("\(app) deleted items")
            case .deleted: words("\(app) deleted \(one)")
            case .used: words("\(app) read \(one)")
            case .refused where entry.item.isEmpty: words("\(app) did not get what it asked for")
            case .refused: words("\(app) asked for \(one) and did not get it")
            case .invalidated: words("Items of the earlier fingers or faces became unreadable")
            case .passcodeSet: words("The passcode was set")
            case .passcodeChanged: words("The passcode was changed")
            case .passcodeRemoved: words("The passcode was removed")
            case .enrollmentChanged: words("The enrolled fingers or faces changed")
            case .rollbackAccepted: words("An older copy of the keychain was accepted")
            case .countersLost: words("The count of wrong tries was changed by another program")
            case .quarantined: words("A damaged item was set aside")
            case .restored: words("A damaged item can be read again")
            case .tryFailed: failedTry(entry, app: app, one)
            case .rowsChanged: words("The keychain’s file was changed by another program")
            case .trailCut: words("The latest entries of this list were removed by another program")
            case .locked: words("The keychain was locked")
            case .unlocked: words("The keychain was unlocked")
            case .facePermissionChanged: words("The permission of \(app) to use your face was changed")
            case .exported: words("\(app) created a backup")
            case .imported: words("\(app) restored a backup")
            case .lockedOut: words("The passcode or the sensor was locked after wrong tries")
            case .protectedDiscarded: words("All protected items were deleted")
            case .anchored: words("The keychain was protected against older copies")
            case .migrationAllowed: words("You allowed items to be moved here")
            case .migrated: words("Items were moved here")
            case .movedAway: words("The items were moved to the system’s keychain")
            case .deviceIdentified: words("\(app) identified this computer to a server")
            case .keyAttested: words("\(app) proved a key to a server")
            case .sensorRefused: words("A sensor that is not trusted was ignored")
            case .accountsRefused: words("A check of your account’s password that is not trusted was ignored")
            case .sessionsRefused: words("A report about your login session that is not trusted was ignored")
            case .namesListed: words("\(app) listed the names of all items")
            case .alwaysAllowed: words("You let \(app) always read \(one)")
            case .neverAllowed: words("You never let \(app) read \(one)")
            case .allowedUntilLogout: words("You let \(app) read \(one) until you log out")
            case .answerEnded where entry.item.isEmpty: words("An answer to a program ended")
            case .answerEnded: words("An answer about \(one) ended")
            }
        return entry.count > 1 ? words("\(text), \(entry.count) times") : text
    }

    /// What was tried in vain, at the prompt of which app, and for which item.
    private static func failedTry(_ entry: ActivityEntry, app: String, _ one: String) -> String {
        let what =
            switch entry.ground {
            case .failed(.finger): words("A finger that was not recognised")
            case .failed(.face): words("A face that was not recognised")
            case .failed(.passcode): words("A wrong passcode")
            case .failed(.accountPassword): words("A wrong password of your account")
            // An earlier version wrote it.
            case .allowed, .refused: words("A wrong passcode, or a finger or face that was not recognised")
            }
        guard !entry.app.isEmpty else { return what }
        return entry.item.isEmpty ? words("\(what), asked by \(app)") : words("\(what), asked by \(app) for \(one)")
    }

    /// An item whose name is not known.
    private static func unnamed(of owner: String?, by app: String, isGone: Bool) -> String {
        switch owner {
        case nil: isGone ? words("an item that was deleted") : words("an item")
        case app: isGone ? words("an item of its own that was deleted") : words("an item of its own")
        case let owner?:
            isGone ? words("an item of \(owner) that was deleted") : words("an item of \(owner)")
        }
    }

    /// What an event means, where its sentence does not say it; nil where it does.
    private static func explanation(_ entry: ActivityEntry) -> String? {
        switch entry.event {
        case .anchored:
            words("If somebody puts back an older copy of your keychain, Latchkey notices it and asks you first.")
        default: nil
        }
    }

    /// How a use was allowed, or why a program did not get what it asked for, one line each.
    static func grounds(_ entry: ActivityEntry) -> [String] {
        switch (entry.event, entry.ground) {
        case (.used, .allowed([])): [words("Allowed without a question.")]
        case (_, .allowed(let grounds)): allowed(grounds)
        case (_, .refused(let reason)): refused(reason).map { [$0] } ?? []
        // The sentence says what it was.
        case (_, .failed): [words("It opened nothing.")]
        }
    }

    private static func allowed(_ grounds: ActivityEntry.Grounds) -> [String] {
        var lines: [String] = []
        if grounds.contains([.finger, .passcode]) {
            lines.append(words("Allowed by your finger and your passcode."))
        } else if grounds.contains([.face, .passcode]) {
            lines.append(words("Allowed by your face and your passcode."))
        } else if grounds.contains(.finger) {
            lines.append(words("Allowed by your finger."))
        } else if grounds.contains(.face) {
            lines.append(words("Allowed by your face."))
        } else if grounds.contains(.passcode) {
            lines.append(words("Allowed by your passcode."))
        }
        if grounds.contains(.appPassword) { lines.append(words("The app gave the password of the item.")) }
        if grounds.contains(.agreed) { lines.append(words("You allowed it when you were asked.")) }
        if grounds.contains(.always) { lines.append(words("You had answered: Always allow.")) }
        if grounds.contains(.untilLogout) { lines.append(words("You had answered: Allow until logout.")) }
        return lines
    }

    private static func refused(_ reason: ActivityEntry.Refusal) -> String? {
        switch reason {
        case .other: nil
        case .cancelled: words("You cancelled.")
        case .fallback: words("You chose another way, which the app offered.")
        case .notRecognized: words("The finger, the face or the passcode was not right.")
        case .lockedOut: words("There were too many wrong tries before.")
        case .noPrompt: words("You could not be asked: no prompt could be shown.")
        case .locked: words("The keychain was locked.")
        case .never: words("You had answered: Never allow.")
        case .wrongAppPassword: words("The app gave a wrong password of the item.")
        case .replaced: words("It needs a finger, a face or a passcode that is not there any more.")
        case .notSetUp: words("No passcode, finger or face was set up that could allow it.")
        case .otherApp: words("It belongs to another app.")
        case .ended: words("The app or the system ended the question before you answered.")
        }
    }

    /// Today, as year, month and day.
    static var today: String { text(Int64(Glibc.time(nil)), "%Y-%m-%d") }

    private static func date(_ seconds: Int64) -> String {
        words(
            "\(text(seconds, "%A")), \(text(seconds, "%e")) \(text(seconds, "%B")) \(text(seconds, "%Y"))",
            context: "weekday, day, month and year")
    }

    /// A day and a time of it, from seconds since 1970-01-01 UTC.
    static func moment(_ seconds: Int64) -> String { "\(date(seconds)), \(text(seconds, clock.seconds))" }

    /// The formats of a time of day: 12 or 24 hours, as the locale of the session and so other apps have it.
    private static let clock: (minutes: String, seconds: String) = {
        let format = nl_langinfo(nl_item(T_FMT)).flatMap { String(validatingCString: $0) } ?? ""
        let has12Hours = ["%r", "%I", "%l", "%p"].contains { format.contains($0) }
        return has12Hours ? ("%-I:%M %p", "%-I:%M:%S %p") : ("%H:%M", "%H:%M:%S")
    }()

    /// The day as the heading of a group; empty for an entry that cannot be read.
    static func day(_ entry: ActivityEntry) -> String {
        guard entry.seconds > 0 else { return "" }
        let now = Int64(Glibc.time(nil))
        if isSameDay(entry.seconds, now) { return words("Today") }
        if isSameDay(entry.seconds, now - 86_400) { return words("Yesterday") }
        return date(entry.seconds)
    }

    /// The time of day in the user's time zone; empty for an entry that cannot be read.
    static func time(_ entry: ActivityEntry) -> String { entry.seconds > 0 ? text(entry.seconds, clock.minutes) : "" }

    /// What is behind a row, one line each.
    ///
    /// - Parameters:
    ///   - app: the name of the app that asked.
    ///   - owner: the name of the app that stored the item; nil if it is not known.
    ///   - wasStoredAgain: whether the item was deleted, and its app has stored another one in its place.
    static func details(
        _ entry: ActivityEntry, app: String, _ installed: InstalledApp?, _ item: StoredItem?, owner: String?,
        isNamed: Bool, wasStoredAgain: Bool
    ) -> String {
        var lines: [String] = []
        if let explanation = explanation(entry) { lines.append(explanation) }
        lines += grounds(entry)
        if entry.seconds > 0 {
            lines.append(words("When: \(moment(entry.seconds))"))
        }
        if !entry.app.isEmpty { lines.append(words("App: \(app)")) }
        if let installed { lines.append(words("Program: \(installed.path.asShownLine)")) }
        if let process = process(entry) { lines.append(process) }
        if let item {
            lines.append(words("Item: \(AppsWords.name(item))"))
            lines.append(AppsWords.subtitle(item))
            if wasStoredAgain { lines.append(words("It was deleted since, and its app stored it again.")) }
        } else if !entry.item.isEmpty {
            lines.append(
                isNamed
                    ? words("Item: deleted, and its name with it")
                    : words("Item: its name is shown after you allow it on the page Apps"))
        }
        if entry.count > 1 { lines.append(words("It happened \(entry.count) times.")) }
        return lines.joined(separator: "\n")
    }

    /// The process that asked; an entry that counts the requests of several names none.
    private static func process(_ entry: ActivityEntry) -> String? {
        if entry.process > 0 { return words("Process: \(entry.process)") }
        let mayBeSeveral = entry.event == .used || entry.event == .refused
        return entry.count > 1 && mayBeSeveral ? words("Process: several") : nil
    }

    private static func isSameDay(_ first: Int64, _ second: Int64) -> Bool {
        let (first, second) = (parts(first), parts(second))
        return first.tm_year == second.tm_year && first.tm_yday == second.tm_yday
    }

    private static func parts(_ seconds: Int64) -> tm {
        var (moment, parts) = (time_t(seconds), tm())
        _ = localtime_r(&moment, &parts)
        return parts
    }

    private static func text(_ seconds: Int64, _ format: String) -> String {
        var parts = parts(seconds)
        var text = [CChar](repeating: 0, count: 128)
        let count = strftime(&text, text.count, format, &parts)
        let shown = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // A day of one digit has a blank before it.
        return shown.split(separator: " ").joined(separator: " ")
    }

    static func icon(_ entry: ActivityEntry) -> String {
        switch entry.event {
        case .added: "list-add-symbolic"
        case .updated, .restored: "document-edit-symbolic"
        case .deleted, .protectedDiscarded: "user-trash-symbolic"
        case .used, .namesListed: "view-reveal-symbolic"
        case nil, .refused, .tryFailed, .lockedOut, .countersLost, .rowsChanged, .trailCut, .quarantined,
            .invalidated,
            .rollbackAccepted, .sensorRefused, .sessionsRefused, .accountsRefused:
            "dialog-warning-symbolic"
        case .passcodeSet, .passcodeChanged, .passcodeRemoved: "dialog-password-symbolic"
        case .enrollmentChanged: "auth-fingerprint-symbolic"
        case .locked: "changes-prevent-symbolic"
        case .unlocked: "changes-allow-symbolic"
        case .facePermissionChanged: "auth-face-symbolic"
        case .exported, .imported, .migrated, .movedAway, .migrationAllowed: "drive-harddisk-symbolic"
        case .anchored, .deviceIdentified, .keyAttested: "dialog-information-symbolic"
        case .alwaysAllowed, .allowedUntilLogout: "emblem-ok-symbolic"
        case .neverAllowed: "action-unavailable-symbolic"
        case .answerEnded: "dialog-question-symbolic"
        }
    }
}
