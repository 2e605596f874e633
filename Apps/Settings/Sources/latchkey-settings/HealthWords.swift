// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts of the page about this computer.
enum HealthWords {
    static let examining = words("Examining this computer…")
    static let attention = words("Needs Attention")
    static let attentionText = words("Begin with the first one: others may follow from it.")
    static let worksName = words("Works")
    static let allWorks = words("Everything works.")
    static let technical = words("Technical Details")
    static let technicalText = words(
        "Optional parts that are not there, and what concerns developers. Not needed for everyday use.")
    static let about = words("About")
    static let openPasscode = words("Open Passcode")
    static let openFingerprints = words("Open Fingerprints")
    static let start = words("Start")
    static let starting = words("Starting…")
    static let started = words("Started.")
    static let copy = words("Copy Command")
    static let copied = words("The command was copied. Paste it into a terminal.")
    static let version = words("Version")
    static let protection = words("Protection")
    static let items = words("Items")
    static let damaged = words("Damaged items")
    static let place = words("Place of the items")

    static func works(_ count: Int) -> String { words.count(count, "\(count) part works", "\(count) parts work") }
    static func placeText(_ protection: KeychainOverview.Protection) -> String {
        switch protection {
        case .chip, .services: words("In the system’s keychain")
        case .user, .simulated: words("In a folder of your own")
        }
    }

    /// A sentence for people about a row; empty where the title says it all.
    static func plain(_ row: Health.Row) -> String {
        switch row.state {
        case .works, .absent: ""
        case .attention: attention(row)
        }
    }

    /// Whether a row only says something to people who write programs or install services.
    static func isForDevelopers(_ row: Health.Row) -> Bool {
        switch row.name {
        case "compiler", "SDK": true
        case "kernel", "tier", "system sockets", "configuration", "daemon program", "units", "declared apps",
            "TPM writes", "service":
            row.state != .attention
        default: false
        }
    }

    /// Whether the sentence about a row says all that was found.
    static func saysItAll(_ row: Health.Row) -> Bool {
        guard row.state == .attention else { return false }
        return switch row.fix {
        case .setPasscode, .checkPasscode, .startAgent: true
        case .enrollFinger, .startDaemon, .command, nil: false
        }
    }

    /// What was found, for the person who helps.
    static func details(_ row: Health.Row) -> String { words("Found: \(found(row))") }

    /// What was found, with other rows named as this page names them.
    private static func found(_ row: Health.Row) -> String {
        let others = [title("sensor program"), title("fprintd"), title("login session")]
        switch (row.name, row.found) {
        case ("sensor", "none; see the rows sensor program, fprintd and login session"):
            return words("none; see \(others[0]), \(others[1]) and \(others[2])")
        case ("sensor", "none, although a finger is enrolled; see the rows sensor program, fprintd and login session"):
            return words("none, although a finger is enrolled; see \(others[0]), \(others[1]) and \(others[2])")
        case (_, "not known, see the row store"): return words("not known, see \(title("store"))")
        case (_, "not known without latchkeyd, see the row above"):
            return words("not known, see \(title("daemon program"))")
        default: return words(row.found)
        }
    }

    private static func attention(_ row: Health.Row) -> String {
        switch (row.name, row.fix) {
        case ("passcode", .setPasscode): words("No passcode is set, so apps cannot protect what they store.")
        case (_, .checkPasscode): words("Enter the passcode once, so that the sensor is used again.")
        case (_, .enrollFinger): words("No finger is enrolled yet.")
        case ("agent", _): words("The program that shows prompts is not running.")
        case ("kernel", _): words("This system is too old to tell programs apart. Install its updates.")
        case ("store", _): words("The stored items cannot be opened.")
        case ("other store", _): words("There are items in a second keychain, which apps do not use.")
        case ("PAM", _): words("The password of your account cannot be checked safely.")
        case ("faces", _): words("Faces cannot be recognised safely.")
        case ("memory", _): words("Secrets in memory could be written to the disk.")
        case ("login session", _): words("This is no login session at this computer, so its sensor is not used.")
        case ("lock", _): words("Locking the screen does not lock the keychain.")
        case ("sensor", _) where row.isWeak:
            words("The sensor works, but it is a program, which decides what it matches. Use it for tests only.")
        case ("sensor", _), ("sensor program", _), ("fprintd", _): words("The sensor cannot be used.")
        case ("enclave", _), ("TPM", _): words("Private keys are protected less than they could be.")
        case ("declared apps", _): words("The description of an app is not valid, so the app has no name.")
        case ("compiler", _), ("SDK", _): words("Only people who write programs need it.")
        case ("latchkey", _), ("tier", _), ("system sockets", _), ("configuration", _), ("daemon program", _),
            ("units", _), ("service", _):
            words("Latchkey’s service does not run as it should.")
        default: words("It does not work as it should.")
        }
    }

    /// The accessible name of a button of a row.
    static func name(_ title: String, of row: String) -> String { "\(title): \(row)" }

    static func command(_ command: String, needsRoot: Bool) -> String {
        needsRoot ? words("An administrator can run: \(command)") : words("In a terminal: \(command)")
    }

    static func damagedText(_ count: UInt64) -> String {
        words.count(
            Int(clamping: count), "One item was set aside, because it is damaged.",
            "\(count) items were set aside, because they are damaged.")
    }

    static func text(_ protection: KeychainOverview.Protection) -> String {
        switch protection {
        case .chip: words("The computer’s security chip and two system services")
        case .services: words("Two system services")
        case .user:
            words(
                """
                Latchkey runs as a program of yours, so another program that you start could get at what it keeps. Where the \
                package latchkey is installed, it runs as a service of the system, which other programs cannot get at.
                """)
        case .simulated: words("None: simulated for tests")
        }
    }

    /// The title of a row that `latchkey doctor` names this way.
    static func title(_ name: String) -> String {
        switch name {
        case "latchkey": words("Latchkey")
        case "kernel": words("Linux")
        case "tier": words("Keychain in use")
        case "system sockets": words("System services")
        case "configuration": words("Configuration")
        case "PAM": words("Account password")
        case "faces": words("Face recognition")
        case "units": words("Service units")
        case "lock": words("Screen lock")
        case "sensor program": words("Sensor program")
        case "login session": words("Login session")
        case "daemon program": words("Program of the service")
        case "service": words("Service")
        case "store": words("Stored items")
        case "other store": words("Another keychain")
        case "memory": words("Memory")
        case "passcode": words("Passcode")
        case "sensor": words("Sensor")
        case "fprintd": words("Fingerprint service")
        case "session": words("Session")
        case "agent": words("Prompts")
        case "enclave": words("Private keys")
        case "TPM": words("Security chip")
        case "TPM writes": words("Wear of the security chip")
        case "declared apps": words("Apps of the system")
        case "compiler": words("Swift compiler")
        case "SDK": words("Developer kit")
        default: name
        }
    }
}
