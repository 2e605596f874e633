// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TPMDriver

/// The places and the configuration of the daemon of a system tier.
struct SystemOptions {
    var sockets = SystemSockets.installed
    /// The folder that has a folder for each user.
    var state = "/var/lib/latchkey"
    var configuration = SystemSockets.installed.configuration
    /// The user whose process this is; nil for the process that accepts the connections of all users.
    var worker: UInt32?
    /// The user as which `latchkey-authd` runs.
    var authority: UInt32 = 0
    var tier = Tier.file
    var enclave: EnclaveKind?
    /// What root keys in the TPM are bound to besides the TPM.
    var seal = TPMKeyVault.Binding.chip
    /// The device of the TPM, or the socket of a virtual one.
    var tpm = TPMPlace.device
    /// The password of the owner hierarchy of the TPM; nil for the empty one.
    var ownerPassword: SecretBytes?
    /// Whether proofs by virtual hardware are accepted.
    var allowsVirtualHardware = false

    /// Reads the configuration, which names the tier. Throws if it is missing, if others than root can change it, or
    /// for a line that is not understood: a typing error must not silently weaken anything.
    mutating func read() throws(Failure) {
        // The user of the tests may stand in for root.
        guard let file = try ConfigurationFile(ofRoot: configuration, orOf: authority) else {
            throw Failure(
                .invalidParameter, "\(configuration) is missing, so no tier was chosen.",
                hint: "Write a line into it: tier = file")
        }
        var chosen: Tier?
        for line in file.lines {
            switch (line.name, line.value) {
            case ("tier", "file"): chosen = .file
            case ("tier", "tpm"): chosen = .tpm
            // latchkey-authd reads these lines itself.
            case ("face", "off"), ("face", "policy"), ("passcode", "account"), ("passcode", "own"): break
            case ("seal", "chip"): seal = .chip
            case ("seal", "pcr7"): seal = .secureBoot
            case ("enclave", "software"): enclave = .software
            case ("enclave", "tpm"): enclave = .tpm
            case ("tpm", let place) where place.hasPrefix("/"): tpm = place
            case ("owner_auth_file", let path) where path.hasPrefix("/"):
                ownerPassword = try OwnerPasswordFile.read(path, group: getegid(), orOf: authority)
            default:
                if let isAllowed = HardwareConfiguration.allowsVirtual(line) {
                    allowsVirtualHardware = isAllowed
                    continue
                }
                throw file.refusal(
                    line,
                    known: "tier = file | tpm, enclave = software | tpm, tpm = PATH, seal = chip | pcr7, "
                        + "owner_auth_file = PATH, passcode = account | own, face = off | policy, "
                        + HardwareConfiguration.known)
            }
        }
        guard let chosen else {
            throw Failure(
                .invalidParameter, "\(configuration) does not name a tier.",
                hint: "Add a line: tier = file, or on a machine with a TPM 2.0: tier = tpm")
        }
        tier = chosen
        guard tier == .tpm else {
            guard case .chip = seal else {
                throw Failure(
                    .invalidParameter, "\(configuration) binds root keys to Secure Boot in a tier without a TPM.",
                    hint: "Remove the line seal = pcr7, or choose: tier = tpm")
            }
            return
        }
        // A key outside the TPM would be weaker than the tier says.
        guard enclave != .software else {
            throw Failure(
                .invalidParameter, "\(configuration) has keys without hardware in tier tpm.",
                hint: "Remove the line: enclave = software")
        }
        enclave = .tpm
    }
}
