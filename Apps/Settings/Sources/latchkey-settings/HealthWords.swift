// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts of the page about this computer.
enum HealthWords {
    static let examining = words("Examining this computer…")
    static let attention = words("Needs Attention")
    static let attentionText = words("Mend the first one first: others may follow from it.")
    static let works = words("Works")
    static let absent = words("Not There")
    static let about = words("About")
    static let openPasscode = words("Open Passcode")
    static let start = words("Start")
    static let starting = words("Starting…")
    static let started = words("Started.")
    static let copy = words("Copy Command")
    static let copied = words("The command was copied. Paste it into a terminal.")
    static let version = words("Version")
    static let protection = words("Protection")
    static let items = words("Items")
    static let damaged = words("Damaged items")
    static let place = words("Place")

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
        case .user: words("A service of your own, which your other programs could attack")
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
