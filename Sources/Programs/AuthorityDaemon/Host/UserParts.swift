// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
package import SystemDriver

/// The stores and drivers of a user's authority. The stores remain when a connection ends.
package struct UserParts: Sendable {
    package var tier: Tier
    /// Whether the sensor is virtual hardware.
    package var isVirtual: Bool
    package var reader: any BiometricReader
    package var prompter: any Prompter
    package var clock: any Clock
    /// Runs the durable writes of this user, one after the other.
    package var work: any WorkQueue
    package var files: AuthorityFolder
    /// The records of the passcode, which are files too.
    package var passcodes: any PasscodeRecordStore
    /// The account of the user; nil where no password of an account is verified.
    package var account: UserAccount?

    /// Creates parts whose records of the passcode are by default those of `files`.
    package init(
        tier: Tier, isVirtual: Bool, reader: any BiometricReader, prompter: any Prompter, clock: any Clock,
        work: any WorkQueue, files: AuthorityFolder, passcodes: (any PasscodeRecordStore)? = nil,
        account: UserAccount? = nil
    ) {
        self.account = account
        self.tier = tier
        self.isVirtual = isVirtual
        self.reader = reader
        self.prompter = prompter
        self.clock = clock
        self.work = work
        self.files = files
        self.passcodes = passcodes ?? files
    }
}
