// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import TPMDriver

/// The daemon's command line and its configuration file.
struct Options {
    var isSimulated = false
    var isDetached = false
    /// The places of the daemon of a system tier; nil for the daemon of one user.
    var system: SystemOptions?
    /// The implementation of the Secure Enclave, if one is configured.
    var enclave: EnclaveKind?
    /// The device of the TPM, or the socket of a virtual one.
    var tpm = TPMPlace.device
    /// Seconds without a connection after which the daemon exits.
    var idleSeconds = Limits.idleSeconds

    static let version = "latchkeyd \(productVersion)"
    static let help = """
        usage: latchkeyd [--simulated] [--detach]
               latchkeyd --system [--sockets FOLDER] [--state FOLDER] [--configuration FILE] [--authority UID]

        Serves the keychain of the user who runs it. Programs start it automatically.

          --simulated   scripted sensors and a clock that can be moved; the store is for tests only
          --detach      run in the background, in a session of its own
          --system      serves all users as a system service, with latchkey-authd; the tier is in the
                        configuration. The other options replace /run/latchkey, /var/lib/latchkey,
                        /etc/latchkey/latchkeyd.conf and the user of latchkey-authd (0), for tests
          --help        show this text
          --version     show the version

        The store is in $LATCHKEY_HOME, or in latchkey below the user's data folder. A file
        latchkeyd.conf there may say: tier = user | simulated, idle_exit_seconds = N,
        enclave = software | tpm (private keys without hardware, which tier simulated has anyway, or in the
        TPM), tpm = PATH (the device; /dev/tpmrm0).

        """

    /// Command lines that do not start the daemon.
    enum Question: Error {
        case help, version
        case wrong(String)
    }

    init(arguments: [String]) throws(Question) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--system": system = system ?? SystemOptions()
            case "--sockets", "--state", "--configuration", "--authority", "--worker":
                guard system != nil, let value = rest.popFirst() else { throw .wrong(argument) }
                switch argument {
                case "--sockets": system?.sockets = SystemSockets(value)
                case "--state": system?.state = value
                case "--configuration": system?.configuration = value
                default:
                    guard let user = UInt32(value) else { throw .wrong(argument) }
                    if argument == "--worker" { system?.worker = user } else { system?.authority = user }
                }
            case "--simulated": isSimulated = true
            case "--detach": isDetached = true
            case "--help", "-h": throw .help
            case "--version": throw .version
            default: throw .wrong(argument)
            }
        }
    }

    /// Reads the configuration file, if it exists. Throws for a line that is not understood: a typing error must not
    /// silently weaken anything.
    mutating func read(_ path: String) throws(Failure) {
        guard let configuration = try ConfigurationFile(path) else { return }
        for line in configuration.lines {
            switch (line.name, line.value) {
            case ("tier", "simulated"): isSimulated = true
            case ("tier", "user"):
                guard !isSimulated else {
                    throw Failure(.storeOfAnotherTier, "\(path) says tier = user, but --simulated was given.")
                }
            case ("enclave", "software"): enclave = .software
            case ("enclave", "tpm"): enclave = .tpm
            case ("tpm", let place) where place.hasPrefix("/"): tpm = place
            case ("idle_exit_seconds", let value):
                guard let seconds = Int64(value), (1...86_400).contains(seconds) else {
                    throw configuration.refusal(line, known: Self.known)
                }
                idleSeconds = seconds
            default: throw configuration.refusal(line, known: Self.known)
            }
        }
    }

    private static let known =
        "tier = user | simulated, idle_exit_seconds = 1...86400, enclave = software | tpm, tpm = PATH"
}
