// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem

/// Removes what a TPM stores for one user: the counters of the store, and the index of the passcode.
package struct TPMUserIndices: Sendable {
    private let chip: TPMChip
    private let passcodes: TPMPasscodeChip

    /// Creates the driver; does not access the TPM.
    package init(_ chip: TPMChip, random: any RandomSource) {
        self.chip = chip
        passcodes = TPMPasscodeChip(chip, random: random)
    }

    /// Removes the counters of a store; does nothing if there are none.
    ///
    /// - Parameter owner: as for `TPMKeyVault.init`.
    package func removeCounters(of owner: [UInt8]) throws(Failure) {
        for label in TPMCounter.labels { try removeCounter(of: owner, label) }
    }

    package func removeCounter(of owner: [UInt8], _ label: CryptographicLabel) throws(Failure) {
        try TPMCounter.remove(of: owner, label, from: chip)
    }

    /// Removes the index of a passcode; does nothing if it is gone.
    ///
    /// - Parameter record: the record of the passcode, or of a plan for one.
    package func removePasscode(_ record: [UInt8]) throws(Failure) { try passcodes.remove(record) }
}

extension TPMKeyVault {
    /// Returns what the counter of a user's store belongs to.
    ///
    /// - Parameter machine: the file that identifies the installed system, so that two systems of one machine have
    ///   counters of their own.
    package static func owner(_ userID: UInt32, machine: String = "/etc/machine-id") throws(Failure) -> [UInt8] {
        let identifier: SecretBytes?
        do throws(SystemError) {
            identifier = try Files.read(machine, limit: 64)
        } catch {
            throw Failure(error, "\(machine) cannot be read")
        }
        guard let identifier, identifier.count >= 32 else {
            throw Failure(
                .vaultUnavailable, "\(machine) has no identifier of the system.",
                hint: "Run as root: systemd-machine-id-setup")
        }
        return identifier.copyBytes().prefix(32) + Array(String(userID).utf8)
    }
}
