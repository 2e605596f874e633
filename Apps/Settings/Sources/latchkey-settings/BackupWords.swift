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
    static let nothingText = words("Nothing that is stored here may leave this computer, so a backup would be empty.")
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
        "An app can keep what it stores on this computer only. If the computer is lost, that is lost too.")
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

    static let resultTitle = words("What Was Done")

    /// What a backup contains, and a line for each app of which something is not in it.
    ///
    /// - Parameter items: the items that may leave this computer, as far as they are known; named if they are as many as the backup
    ///   has.
    static func report(
        _ result: KeychainControl.BackupResult, savedAs path: [UInt8], _ items: [StoredItem]
    ) -> [Operation.Outcome.Line] {
        let count = Int(clamping: result.count)
        let first = words.count(count, "The backup contains \(count) item.", "The backup contains \(count) items.")
        let place = words("It was saved as \(KeychainControl.text(ofPath: path))")
        let names = items.count == count ? AppsWords.names(items) : []
        return [Operation.Outcome.Line(words: first, more: (names + [place]).joined(separator: "\n"))]
            + leftOut(result) { app, count in
                words.count(
                    count, "\(count) item of \(app) is not in the backup.",
                    "\(count) items of \(app) are not in the backup.")
            }
    }

    /// What was restored, and a line for each app of which something was not.
    static func report(_ result: KeychainControl.BackupResult) -> [Operation.Outcome.Line] {
        let (count, present) = (Int(clamping: result.count), Int(clamping: result.presentCount))
        let first = words.count(count, "\(count) item was restored.", "\(count) items were restored.")
        let rest =
            present == 0
            ? "" : words.count(present, "\(present) item was here already.", "\(present) items were here already.")
        return [Operation.Outcome.Line(words: first, more: rest)]
            + leftOut(result) { app, count in
                words.count(
                    count, "\(count) item of \(app) was not restored.", "\(count) items of \(app) were not restored.")
            }
    }

    /// A line for each app of which items were left out, with their names and why.
    private static func leftOut(
        _ result: KeychainControl.BackupResult, _ sentence: (_ app: String, _ count: Int) -> String
    ) -> [Operation.Outcome.Line] {
        let apps = Dictionary(grouping: result.leftOut) { AppsWords.app($0.app, nil) }
        let lines = apps.sorted { $0.key < $1.key }.map { app, items in
            Operation.Outcome.Line(
                words: sentence(app, items.count), more: LeftOutWords.reasons(items).joined(separator: "\n"),
                mark: .warning)
        }
        let rest = Int(clamping: result.leftOutCount) - result.leftOut.count
        return rest > 0 ? lines + [Operation.Outcome.Line(words: LeftOutWords.more(rest), mark: .warning)] : lines
    }
}
