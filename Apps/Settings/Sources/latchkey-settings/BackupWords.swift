// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts of the page about backups.
enum BackupWords {
    static let description = words(
        """
        A backup is one encrypted file. Only its recovery code opens it. Latchkey shows the code once, in its prompt, as \
        text and as a QR code.
        """)
    static let limitsName = words("What a backup does not contain")
    static let createTitle = words("Create a backup")
    static let createText = words("Keep the file and its recovery code in different places.")
    static let passcodeTitle = words("Set a passcode first")
    static let passcodeText = words("You allow a backup, and restoring one, with your passcode.")
    static let setPasscode = words("Set a _Passcode")
    static let create = words("_Create…")
    /// What a backup cannot contain, before it is made.
    static func staysHere(_ apps: [(name: String, count: Int)]) -> String {
        apps.map { app in
            words.count(
                app.count, "\(app.count) item of \(app.name) will not be in a backup.",
                "\(app.count) items of \(app.name) will not be in a backup.")
        }.joined(separator: " ")
    }
    static let staysHereText = words(
        "These apps said that it must never leave this computer. If the computer is lost, it is lost too.")
    static let save = words("_Save")
    /// The name of a new file, with the day.
    static var fileName: String { "keychain-\(ActivityWords.today).latchkey-backup" }
    static let restoreTitle = words("Restore a backup")
    static let restoreText = words("Adds what is missing here. Nothing is replaced.")
    static let restore = words("_Restore…")
    static let open = words("_Open")
    static let writing = words("Answer the prompt that Latchkey shows, and write the recovery code down.")
    static let reading = words("Answer the prompt: first your passcode, then the recovery code.")

    static func written(_ count: Int) -> String { words("\(AppsWords.count(count)) written…") }
    static func added(_ count: Int) -> String { words("\(AppsWords.count(count)) added…") }
    static func wrote(_ result: KeychainControl.BackupResult, _ path: [UInt8]) -> String {
        let count = AppsWords.count(Int(clamping: result.count))
        let lines = [
            words("The backup contains \(count)."), words("It was saved as \(KeychainControl.text(ofPath: path))"),
        ]
        return (lines + leftOut(result, isBackup: true)).joined(separator: "\n")
    }

    static func restored(_ result: KeychainControl.BackupResult) -> String {
        let added = AppsWords.count(Int(clamping: result.count))
        let line =
            result.presentCount == 0
            ? words("\(added) restored.") : words("\(added) restored; \(result.presentCount) were here already.")
        return ([line] + leftOut(result, isBackup: false)).joined(separator: "\n")
    }

    /// The items that were left out: a sentence for one, and a list of several.
    private static func leftOut(_ result: KeychainControl.BackupResult, isBackup: Bool) -> [String] {
        guard result.leftOutCount > 0 else { return [] }
        let count = AppsWords.count(Int(clamping: result.leftOutCount))
        if result.leftOutCount == 1, let item = result.leftOut.first {
            let (name, reason) = (LeftOutWords.name(item), words(item.reason))
            return [
                isBackup
                    ? words("\(count) is not in the backup, because \(reason): \(name).")
                    : words("\(count) was not restored, because \(reason): \(name).")
            ]
        }
        let title = isBackup ? words("\(count) are not in the backup:") : words("\(count) were not restored:")
        return [title] + LeftOutWords.lines(result.leftOut, of: result.leftOutCount)
    }
}
