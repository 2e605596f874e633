// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

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
    package var counters: any CounterStore
    package var permissions: any FacePermissionStore
    package var passcodes: any PasscodeRecordStore
    package var approvalKeys: any ApprovalKeyStore
    package var enrolments: any EnrolmentEpochs
    /// The account of the user; nil where no password of an account is verified.
    package var account: UserAccount?

    /// Creates a value from its fields.
    package init(
        tier: Tier, isVirtual: Bool, reader: any BiometricReader, prompter: any Prompter, clock: any Clock,
        work: any WorkQueue,
        counters: any CounterStore, permissions: any FacePermissionStore,
        passcodes: any PasscodeRecordStore, approvalKeys: any ApprovalKeyStore,
        enrolments: any EnrolmentEpochs, account: UserAccount? = nil
    ) {
        self.account = account
        self.tier = tier
        self.isVirtual = isVirtual
        self.reader = reader
        self.prompter = prompter
        self.clock = clock
        self.work = work
        self.counters = counters
        self.permissions = permissions
        self.passcodes = passcodes
        self.approvalKeys = approvalKeys
        self.enrolments = enrolments
    }
}
