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

    /// What happened, with the app and the item; `isNamed` says whether the names of all items are known.
    static func sentence(_ entry: ActivityEntry, item: String?, isNamed: Bool) -> String {
        let app = entry.app.isEmpty ? "Latchkey" : entry.app
        let one =
            item.map { words("“\($0)”") }
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

    static func subtitle(_ entry: ActivityEntry) -> String {
        [moment(entry.seconds), process(entry)].filter { !$0.isEmpty }.joined(separator: " · ")
    }

    /// The process that asked; an entry that counts the requests of several names none.
    private static func process(_ entry: ActivityEntry) -> String {
        if entry.process > 0 { return words("process \(entry.process)") }
        let mayBeSeveral = entry.event == .used || entry.event == .refused
        return entry.count > 1 && mayBeSeveral ? words("several processes") : ""
    }

    /// Day and time in the user's time zone; empty for 0.
    private static func moment(_ seconds: Int64) -> String {
        guard seconds > 0 else { return "" }
        var (then, now) = (time_t(seconds), time(nil))
        var (parts, today) = (tm(), tm())
        guard localtime_r(&then, &parts) != nil, localtime_r(&now, &today) != nil else { return "" }
        let isToday = parts.tm_year == today.tm_year && parts.tm_yday == today.tm_yday
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, isToday ? "%H:%M" : "%e %B %Y, %H:%M", &parts)
        let shown = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return isToday ? words("Today, \(shown)") : String(shown.drop { $0 == " " })
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
