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
    static let nothingFound = words("No entry matches.")
    static let showItem = words("Show the _Item…")

    /// What happened, with the app and the item.
    ///
    /// - Parameters:
    ///   - item: the name of the item; nil if it is not known.
    ///   - exists: whether the item still exists.
    ///   - isNamed: whether the names of all items are known.
    static func sentence(
        _ entry: ActivityEntry, app: String, item: String?, exists: Bool, isNamed: Bool
    ) -> String {
        let app = app.isEmpty ? "Latchkey" : app
        let one =
            item.map {
                exists || !isNamed || entry.event == .deleted ? words("“\($0)”") : words("“\($0)”, which is deleted")
            }
            ?? (entry.item.isEmpty
                ? words("your keychain") : isNamed ? words("an item that no longer exists") : words("an item"))
        let text =
            switch entry.event {
            case nil: words("An entry that cannot be read")
            case .added: words("\(app) stored \(one)")
            case .updated: words("\(app) changed \(one)")
            case .deleted where entry.item.isEmpty: words("\(app) deleted items")
            case .deleted where item == nil: words("\(app) deleted an item")
            case .deleted: words("\(app) deleted \(one)")
            case .used: words("\(app) read \(one)")
            case .refused: words("\(app) was refused \(one)")
            case .invalidated: words("Items of the earlier fingers or faces became unreadable")
            case .passcodeSet: words("The passcode was set")
            case .passcodeChanged: words("The passcode was changed")
            case .passcodeRemoved: words("The passcode was removed")
            case .enrollmentChanged: words("The enrolled fingers or faces changed")
            case .rollbackAccepted: words("An older copy of the keychain was accepted")
            case .countersLost: words("The count of wrong tries was changed by another program")
            case .quarantined: words("A damaged item was set aside")
            case .restored: words("A damaged item can be read again")
            case .tryFailed: words("A wrong passcode, finger or face for \(app)")
            case .rowsChanged: words("The keychain’s file was changed by another program")
            case .trailCut: words("The latest entries of this list were removed by another program")
            case .locked: words("The keychain was locked")
            case .unlocked: words("The keychain was unlocked")
            case .facePermissionChanged: words("The permission of \(app) to use your face was changed")
            case .exported: words("\(app) made a backup")
            case .imported: words("\(app) read a backup")
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
            }
        return entry.count > 1 ? words("\(text), \(entry.count) times") : text
    }

    /// The day as the heading of a group; empty for an entry that cannot be read.
    static func day(_ entry: ActivityEntry) -> String {
        guard entry.seconds > 0 else { return "" }
        let now = Int64(Glibc.time(nil))
        if isSameDay(entry.seconds, now) { return words("Today") }
        if isSameDay(entry.seconds, now - 86_400) { return words("Yesterday") }
        return text(entry.seconds, "%A, %e %B %Y")
    }

    /// The time of day in the user's time zone; empty for an entry that cannot be read.
    static func time(_ entry: ActivityEntry) -> String { entry.seconds > 0 ? text(entry.seconds, "%H:%M") : "" }

    /// What is behind a row, one line each.
    static func details(
        _ entry: ActivityEntry, _ installed: InstalledApp?, _ item: StoredItem?, isNamed: Bool
    ) -> String {
        var lines: [String] = []
        if entry.seconds > 0 { lines.append(words("When: \(text(entry.seconds, "%A, %e %B %Y, %H:%M:%S"))")) }
        if !entry.app.isEmpty { lines.append(words("App: \(installed?.name ?? entry.app)")) }
        if let installed { lines.append(words("Program: \(installed.path)")) }
        if let process = process(entry) { lines.append(process) }
        if let item {
            lines.append(words("Item: \(AppsWords.name(item))"))
            lines.append(AppsWords.subtitle(item))
        } else if !entry.item.isEmpty {
            lines.append(
                isNamed
                    ? words("Item: one that was deleted before this window knew its name")
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
        }
    }
}
