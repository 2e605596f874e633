// SPDX-License-Identifier: Apache-2.0

/// The texts of the window around its pages.
enum WindowWords {
    static let title = words("Latchkey Settings")
    static let pages = words("Pages")
    /// The name of the product, which is the same in every language.
    static let shortTitle = "Latchkey"
    static let simulated = words("Simulated keychain: protects nothing")
    static let back = words("Back to the List")
    static let lock = words("Lock Now")
    static let unlock = words("Unlock")
    static let locking = words("Locking…")
    static let locked = words("The keychain is locked.")
    static let unlocked = words("The keychain is unlocked.")
    static let staysLocked = words("That was not right. The keychain stays locked.")
    static let isLocked = words("The keychain is locked. Apps get nothing from it until you unlock it.")
    static let details = words("Details")
    static let show = words("Show")
    static let hide = words("Hide")
    static let closeMnemonic = words("_Close")
    static let menu = words("Menu")
    static let refresh = words("Refresh")
    static let search = words("Search")
    static let otherSide = words("Go Between List and Page")
    static let shortcuts = words("Keyboard Shortcuts")
    static let close = words("Close")
    static let dismiss = words("Dismiss")
    static let cancel = words("Cancel")
    static let cancelMnemonic = words("_Cancel")
    static let progress = words("Progress")
    static let answerPrompt = words("Answer the prompt that Latchkey shows.")
    static let showPrompt = words("Show It")
    static let otherPrompt = words("Another app’s prompt is shown first. Yours follows it.")
    static let tryAgain = words("_Try Again")
    static let showHealth = words("Show What Is _Missing")

    static func page(_ page: PageName) -> String {
        switch page {
        case .passcode: words("Passcode")
        case .fingerprints: words("Fingerprints")
        case .activity: words("Activity")
        case .apps: words("Apps")
        case .faces: words("Face Permissions")
        case .backup: words("Backup")
        case .health: words("Health")
        }
    }

    static func icon(_ page: PageName) -> String {
        switch page {
        case .passcode: "dialog-password-symbolic"
        case .fingerprints: "auth-fingerprint-symbolic"
        case .activity: "document-open-recent-symbolic"
        case .apps: "view-app-grid-symbolic"
        case .faces: "auth-face-symbolic"
        case .backup: "drive-harddisk-symbolic"
        case .health: "system-run-symbolic"
        }
    }
}

/// The texts of the command line.
enum CommandWords {
    static let help = words(
        """
        usage: latchkey-settings [PAGE]

        Shows a window with which you control your keychain: the passcode, fingerprints, which
        app asked for what, permissions, backups, and what is missing on this computer.

        PAGE is passcode, fingerprints, activity, apps, faces, backup or health.

          --help        show this text
          --version     show the version

        Exit status: 64 unknown page or option, 69 no display.

        """)
    static let unknownHint = words("See: latchkey-settings --help")
    static let noDisplay = words("there is no display to show a window on")
    static let noDisplayHint = words("Start it within a graphical session, or use the command latchkey.")

    static func unknown(_ argument: String) -> String { words("unknown page or option \(argument)") }
}
