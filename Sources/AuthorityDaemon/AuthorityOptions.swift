// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport

/// The command line of `latchkey-authd`.
package struct AuthorityOptions: Sendable {
    /// The folder of the sockets.
    var sockets = SystemSockets.installed
    /// The folder that has a folder for each user.
    var state = "/var/lib/latchkey-authd"
    /// The user as which `latchkeyd` runs, by name.
    var storeUser = "latchkey"
    /// The program that shows prompts on terminals.
    var prompt: String
    /// The folder in which fprintd keeps enrolled fingers.
    package private(set) var fingerprints = "/var/lib/fprint"

    /// The socket on which tests operate a scripted sensor; only the program for tests creates it.
    package var sensorSocket: String { sockets.folder + "/sensor.sock" }

    /// Why the program does not start.
    package enum Question: Error {
        case help, version
        case wrong(String)
    }

    /// Reads the command line.
    package init(arguments: [String]) throws(Question) {
        prompt = Files.folder(of: Environment.executable ?? "") + "/latchkey-prompt"
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": throw .help
            case "--version": throw .version
            case "--sockets", "--state", "--store-user", "--prompt", "--fingerprints":
                guard let value = rest.popFirst(), !value.isEmpty else { throw .wrong(argument) }
                switch argument {
                case "--sockets": sockets = SystemSockets(value)
                case "--state": state = value
                case "--store-user": storeUser = value
                case "--fingerprints": fingerprints = value
                default: prompt = value
                }
            default: throw .wrong(argument)
            }
        }
    }

    package static let version = "latchkey-authd \(productVersion)"
    package static let help = """
        usage: latchkey-authd [--sockets FOLDER] [--state FOLDER] [--store-user NAME] [--prompt PROGRAM]
                              [--fingerprints FOLDER]

        Authenticates the users of the system's keychain for latchkeyd: shows prompts, counts tries and answers
        with tokens. Runs as root and gives up all privileges but four (docs/services.md).

          --sockets     the folder of the sockets (/run/latchkey)
          --state       the folder of counters and passcode records (/var/lib/latchkey-authd)
          --store-user  the user as which latchkeyd runs (latchkey)
          --prompt      the program that shows prompts on terminals (latchkey-prompt beside this program)
          --fingerprints  the folder in which fprintd keeps enrolled fingers (/var/lib/fprint)
          --help        show this text
          --version     show the version

        """
}
