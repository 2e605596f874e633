// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// The command line of `latchkey-authd`.
package struct AuthorityOptions: Sendable {
    var sockets = SystemSockets.installed
    /// The folder that has a folder for each user.
    var state = "/var/lib/latchkey-authd"
    /// The user as which `latchkeyd` runs, by name.
    var storeUser = "latchkey"
    /// The configuration of the services, which names the tier.
    var configuration = SystemSockets.installed.configuration
    /// The program that shows prompts on terminals.
    var prompt: String
    /// The program that runs libpam.
    var accounts: String
    /// What a first passcode is, where the account has a password; nil for what the configuration says. For tests.
    private var firstPasscode: PasscodeKind?
    /// The folder in which fprintd stores enrolled fingers; nil for `--user`, because only root can read it.
    package var fingerprints: String? { isForUser ? nil : fingerprintFolder }
    private var fingerprintFolder = "/var/lib/fprint"
    /// The file in which root allows virtual hardware to the process of `--user`.
    var hardware = HardwareConfiguration.path
    /// The user whose process this is; nil for the process that accepts the connections of all users.
    private(set) var worker: UInt32?
    /// Whether the process speaks to fprintd and logind for the processes of all users.
    private(set) var isForSensors = false
    /// Whether the process only connects the `latchkeyd` that started it with the sensors.
    private(set) var isForUser = false

    /// The socket on which tests operate a scripted sensor; only the program for tests creates it.
    package var sensorSocket: String { sockets.folder + "/sensor.sock" }

    /// Why the program does not start.
    package enum Question: Error {
        case help, version
        case wrong(String)
    }

    package init(arguments: [String]) throws(Question) {
        let folder = Files.folder(of: Environment.executable ?? "")
        prompt = folder + "/latchkey-prompt"
        accounts = folder + "/latchkey-pam"
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": throw .help
            case "--version": throw .version
            case "--user": isForUser = true
            // Of the processes that this program starts (UserAcceptor).
            case "--sensors": isForSensors = true
            case "--worker":
                guard let value = rest.popFirst(), let user = UInt32(value) else { throw .wrong(argument) }
                worker = user
            case "--sockets", "--state", "--store-user", "--prompt", "--pam", "--passcode", "--configuration",
                "--fingerprints", "--hardware":
                guard let value = rest.popFirst(), !value.isEmpty else { throw .wrong(argument) }
                switch argument {
                case "--sockets": sockets = SystemSockets(value)
                case "--state": state = value
                case "--store-user": storeUser = value
                case "--hardware": hardware = value
                case "--fingerprints": fingerprintFolder = value
                case "--configuration": configuration = value
                case "--prompt": prompt = value
                case "--pam": accounts = value
                default:
                    guard let kind = Self.kinds[value] else { throw .wrong("\(argument) \(value)") }
                    firstPasscode = kind
                }
            default: throw .wrong(argument)
            }
        }
    }

    private static let kinds = Dictionary(uniqueKeysWithValues: PasscodeKind.allCases.map { ($0.name, $0) })

    /// What a first passcode is, where the account has a password. In tier `tpm` it is the account password only if
    /// the administrator says so: that can be guessed without the TPM, from `/etc/shadow`.
    func firstPasscode(_ configuration: AuthorityConfiguration) -> PasscodeKind {
        firstPasscode ?? configuration.firstPasscode ?? (configuration.tier == .tpm ? .own : .account)
    }

    package static let version = "latchkey-authd \(productVersion)"
    package static let help = """
        usage: latchkey-authd [--sockets FOLDER] [--state FOLDER] [--store-user NAME] [--prompt PROGRAM]
                              [--pam PROGRAM] [--passcode account | own] [--configuration FILE]
                              [--fingerprints FOLDER]
               latchkey-authd --user [--hardware FILE]

        Authenticates the users of the system's keychain for latchkeyd: shows prompts, counts tries and answers
        with tokens. Runs as root and gives up all privileges but four (docs/reference/services.md).

          --sockets     the folder of the sockets (/run/latchkey)
          --state       the folder of counters and passcode records (/var/lib/latchkey-authd)
          --store-user  the user as which latchkeyd runs (latchkey)
          --prompt      the program that shows prompts on terminals (latchkey-prompt beside this program)
          --pam         the program that verifies passwords of accounts (latchkey-pam beside this program)
          --passcode    what a first passcode is, whatever the configuration says (account or own)
          --configuration  the configuration of both services (/etc/latchkey/latchkeyd.conf)
          --fingerprints  the folder in which fprintd keeps enrolled fingers (/var/lib/fprint)
          --hardware    the file in which root allows virtual hardware to --user (/etc/latchkey/hardware.conf)
          --user        speaks to fprintd and logind for the latchkeyd of one user, which starts it
          --help        show this text
          --version     show the version

        """
}
