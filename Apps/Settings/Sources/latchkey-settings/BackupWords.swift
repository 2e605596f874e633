// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts of the page about backups.
enum BackupWords {
    static let description = words(
        """
        A backup is one encrypted file. Only its recovery code opens it. Latchkey shows the code once, in its prompt, as \
        text and as a QR code.
        """)
    static let createTitle = words("Create a backup")
    static let createText = words("Keep the file and its recovery code in different places.")
    static let passcodeTitle = words("Set a passcode first")
    static let passcodeText = words("You allow a backup, and restoring one, with your passcode.")
    static let setPasscode = words("Set a _Passcode")
    static let create = words("_Create…")
    static let save = words("_Save")
    static let fileName = "keychain.latchkey-backup"
    static let restoreTitle = words("Restore a backup")
    static let restoreText = words("Adds what is missing here. Nothing is replaced.")
    static let restore = words("_Restore…")
    static let open = words("_Open")
    static let writing = words("Answer the prompt that Latchkey shows, and write the recovery code down.")
    static let reading = words("Enter the recovery code in the prompt that Latchkey shows.")

    static func written(_ count: Int) -> String { words("\(AppsWords.count(count)) written…") }
    static func added(_ count: Int) -> String { words("\(AppsWords.count(count)) added…") }
    static func wrote(_ result: KeychainControl.BackupResult) -> String {
        withLeftOut(words("The backup contains \(AppsWords.count(Int(clamping: result.count)))."), result)
    }

    static func restored(_ result: KeychainControl.BackupResult) -> String {
        let added = AppsWords.count(Int(clamping: result.count))
        return withLeftOut(
            result.presentCount == 0
                ? words("\(added) restored.") : words("\(added) restored; \(result.presentCount) were here already."),
            result)
    }

    /// Adds the items that were left out.
    private static func withLeftOut(_ text: String, _ result: KeychainControl.BackupResult) -> String {
        guard result.leftOutCount > 0 else { return text }
        let count = AppsWords.count(Int(clamping: result.leftOutCount))
        let lines =
            [text, words("\(count) could not be included:")]
            + LeftOutWords.lines(result.leftOut, of: result.leftOutCount)
        return lines.joined(separator: "\n")
    }
}
