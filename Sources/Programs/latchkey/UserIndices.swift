// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SystemDriver
import TPMDriver

/// What the TPM has for a user whose keychain is removed. Its memory has room for few users.
struct UserIndices {
    /// Where the TPM is, and how it is used.
    struct Places {
        /// The configuration of the services, which names the tier and the TPM.
        var configuration = SystemSockets.installed.configuration
        /// The file that identifies the installed system.
        var machine = "/etc/machine-id"
    }

    let userID: UInt32
    /// The folder that latchkey-authd has for the user.
    let authority: String
    let places: Places

    /// Removes the indices of the user. The folders are removed whatever this returns: a TPM that is gone must not stop
    /// that.
    ///
    /// - Returns: what could not be removed, and why; empty in a tier without a TPM.
    func remove() -> [Failure] {
        var remaining: [Failure] = []
        func attempt(_ part: Part, _ body: () throws(Failure) -> Void) {
            do throws(Failure) { try body() } catch { remaining.append(part.remains(error)) }
        }
        var (records, tpm, ownerPassword) = (PasscodeRecords(), nil as String?, nil as SecretBytes?)
        attempt(.counter) { () throws(Failure) in (tpm, ownerPassword) = try place() }
        attempt(.passcode) { () throws(Failure) in
            records = try AuthorityFolder.passcodeRecords(in: authority)
        }
        let indices = [records.current?.chip, records.prepared?.chip, records.abandoned]
            .compactMap(\.self).filter { !$0.isEmpty }
        // A keychain of tier `file` has nothing in a TPM, also if its records cannot be read.
        guard tpm != nil || !indices.isEmpty else { return [] }
        let chip = TPMChip(
            TPMPlace(tpm ?? TPMPlace.device), clock: SystemClock(), random: SystemRandomSource(),
            ownerPassword: ownerPassword)
        let removal = TPMUserIndices(chip, random: SystemRandomSource())
        for index in indices { attempt(.passcode) { () throws(Failure) in try removal.removePasscode(index) } }
        attempt(.counter) { () throws(Failure) in
            try removal.removeCounters(of: TPMKeyVault.owner(userID, machine: places.machine))
        }
        return remaining
    }

    /// What the TPM has for a user.
    private enum Part {
        case counter, passcode

        /// Says that the part could not be removed.
        func remains(_ cause: Failure) -> Failure {
            switch self {
            case .counter:
                Failure(
                    cause.status, "The counter of the keychain may remain in the TPM: \(cause.message)",
                    hint: cause.hint)
            case .passcode:
                Failure(
                    cause.status, "The index of the passcode may remain in the TPM: \(cause.message)",
                    hint: cause.hint)
            }
        }
    }

    /// The place of the TPM, and the password of its owner hierarchy; nil if the configuration names another tier, or does
    /// not exist.
    private func place() throws(Failure) -> (String?, SecretBytes?) {
        guard let file = try ConfigurationFile(places.configuration),
            file.lines.contains(where: { $0.name == "tier" && $0.value == "tpm" })
        else { return (nil, nil) }
        let group = Accounts.user(named: "latchkey")?.groupID ?? 0
        let ownerPassword = try file.lines.last { $0.name == "owner_auth_file" }.map { (line) throws(Failure) in
            try OwnerPasswordFile.read(line.value, group: group)
        }
        return (file.lines.last { $0.name == "tpm" }?.value ?? TPMPlace.device, ownerPassword)
    }
}
