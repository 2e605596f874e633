// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy

/// A change that the service reports to its authority.
package enum AuthorityChange: Sendable {
    case locked
    case unlocked(byBiometry: Bool)
    case background(Bool)
    /// A login session was locked, or the machine is about to sleep.
    case sessionLocked
    /// No login session is locked any more.
    case sessionUnlocked
    /// Biometry may be used in these login sessions.
    case biometrySessions(BiometrySessions)
    /// A passcode was set, or removed with false.
    case passcodeExists(Bool)
    case passcodeChanged
    /// A program did not get its item because the device is locked. Changes nothing: an agent learns of it, and of the unlock
    /// that follows.
    case refusedWhileLocked
}

/// The role that authenticates one user: it shows prompts, operates the sensor, counts tries and issues tokens.
///
/// It is implemented in the process of the keychain (tiers `user` and `simulated`) and by a client of
/// `latchkey-authd` (tiers `file` and `tpm`). All functions may be called on any thread.
package protocol AuthenticationAuthority: KeyApprover {
    /// The state after the last processed event, with the current time; without the evaluations under way if another
    /// process has them.
    var state: PolicyState { get }
    /// Whether `state` comes from the authority. In another process it is not known before it has answered.
    var isStateKnown: Bool { get }
    /// The prompt that is shown now; nil if there is none.
    var shownPrompts: [StatusReport.ShownPrompt] { get }
    /// What the passcode is, or what a first one will be; nil if that is not known.
    var passcodeKind: PasscodeKind? { get }
    /// The identifier of the connection under whose key tokens are issued, 16 bytes; changes with each connection.
    var connection: [UInt8] { get }
    /// Computes the code of a token under the key of the connection.
    func code(of token: AuthToken) throws(Failure) -> [UInt8]
    /// Connects the authority to the service that uses it; called once, before any other function.
    ///
    /// - Parameters:
    ///   - client: stored as a weak reference.
    ///   - isPasscodeSet: whether the store has a passcode.
    ///   - isLocked: whether the device is locked.
    func attach(_ client: any KeychainService, isPasscodeSet: Bool, isLocked: Bool)
    /// Starts an evaluation.
    ///
    /// - Parameters:
    ///   - caller: the program that asks. An authority in another process does not rely on it, and determines the
    ///     caller itself.
    ///   - failed: called for each try that failed, after it was counted, on any thread; also after `completion`, for a
    ///     passcode that was being verified when the evaluation ended.
    ///   - completion: called exactly once, on any thread, possibly before this returns; with a failure without a message
    ///     if the status describes the refusal.
    /// - Returns: the number of the evaluation.
    func evaluate(
        _ request: AuthenticationRequest, of caller: Caller, failed: @escaping @Sendable (TriedProof) -> Void,
        _ completion: @escaping @Sendable (Result<AuthenticationGrant, Failure>) -> Void
    ) -> UInt64
    /// Cancels an evaluation for the caller (`appCancel`) or because its connection ended (`systemCancel`).
    func withdraw(_ evaluation: UInt64, _ status: Status)
    /// Reports a change.
    ///
    /// - Parameter then: called when the change has been processed, or with the failure if it was not accepted.
    func report(_ change: AuthorityChange, then: (@Sendable (Failure?) -> Void)?)
    /// Stores the counters, before a first passcode is set. Blocks.
    func persistCounters() throws(Failure)
    /// Sets the face permission of an app, or deletes it with nil so that the app asks again.
    ///
    /// - Parameter done: called when the change is durable and in force, or with the failure.
    func setFacePermission(_ application: String, _ isAllowed: Bool?, _ done: @escaping @Sendable (Failure?) -> Void)
    /// Calls `observer` whenever the state may have changed.
    func observe(_ observer: @escaping @Sendable () -> Void)
}

/// What opens the key that the passcode protects.
package enum PasscodeSecret: Sendable {
    /// The passcode as it was typed; the store stretches it.
    case typed(SecretBytes)
    /// The key of the slot, 32 bytes, which `latchkey-authd` derived from the passcode; with the identifier of the
    /// passcode's secret, 16 bytes.
    case slotKey(SecretBytes, passcodeID: [UInt8])
}

/// What `latchkey-authd` derives from a right passcode.
package struct OpenedPasscode: Sendable {
    /// The key of the store's slot, 32 bytes.
    package let slotKey: SecretBytes
    /// What the chip has returned, which changes the passcode; nil without a chip.
    package let chipSecret: SecretBytes?
    /// What the chip compares, which proves the passcode to its keys; nil without a chip.
    package let chipValue: SecretBytes?

    package init(slotKey: SecretBytes, chipSecret: SecretBytes? = nil, chipValue: SecretBytes? = nil) {
        (self.slotKey, self.chipSecret, self.chipValue) = (slotKey, chipSecret, chipValue)
    }
}

/// The result of verifying a passcode.
package enum PasscodeVerdict: Sendable {
    /// The passcode is right; with what it opens, unless that stays in the store.
    case right(OpenedPasscode?)
    case wrong
    /// The passcode is right, but the key that it protects does not open; the evaluation is refused without a miss.
    case rightButClosed(Failure)
    /// What verifies the passcode does not answer, and got nothing of the passcode. The try does not count.
    case notVerified(Failure)
    /// The password is that of the account, which was changed: the passcode is the previous one. Durable.
    case outdated
}

/// What an authority needs of the store of its user: in one process the service, in `latchkey-authd` the other end of the
/// connection. The calls block and may come from any thread.
package protocol AuthorityClient: AnyObject, Sendable {
    /// Adopts the sensor's enrolment set durably; a match of a new set is accepted only afterwards.
    func adopt(_ set: EnrolmentSet?) throws(Failure)
    /// Verifies a passcode as it was typed; a right one opens the key that it protects.
    func open(_ passcode: SecretBytes) throws(Failure) -> PasscodeVerdict
    /// Reports that these counters are durable.
    func counted(_ counters: PolicyCounters)
    /// Reports that counters were missing or unreadable, and that tries therefore count as used up.
    func countersWereLost() throws(Failure)
}

/// The passcode of a user who has the account password as passcode. The calls block.
package protocol AccountPasscode: AnyObject, Sendable {
    /// Opens the key that the account password protects.
    ///
    /// - Parameters:
    ///   - password: the password that the system has accepted for the account.
    ///   - previous: the password that the account had before, if the user was asked for it; a right one is replaced
    ///     by `password`.
    func open(accountPassword password: SecretBytes, previous: SecretBytes?) throws(Failure) -> PasscodeVerdict
}

/// The functions of the service that an authority in another process calls beside those of every authority. The calls
/// block and may come from any thread.
package protocol KeychainService: AuthorityClient {
    /// Opens the slot of the passcode with its key, 32 bytes; false for another key.
    func openSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure) -> Bool
    /// Replaces the slot of the passcode, whose key is open, by one under this key.
    func replaceSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure)
    /// Reports that login sessions of the user are locked, or not any more. Returns when no key is in memory that a lock
    /// forbids.
    func applySessionLock(isLocked: Bool) throws(Failure)
    /// Reports that the connection to the authority ended: every proof that it gave is void.
    func authorityWasLost()
    /// Reports that messages or services that claim to be a sensor, or to report login sessions, were not trusted. Does
    /// not wait for the store.
    func refused(_ source: UntrustedSource, count: UInt64)
    /// Reports a try that failed, of an evaluation that is not known any more. Does not wait for the store.
    func tryFailed(_ proof: TriedProof)
}

/// The role that stores the counters of failed tries durably.
package protocol CounterStore: AnyObject, Sendable {
    /// Returns the stored counters, and whether they were stored in this boot; nil if none were ever stored. Throws
    /// `storeUnreadable` for changed or missing ones.
    func storedCounters() throws(Failure) -> (PolicyCounters, isOfThisBoot: Bool)?
    /// Stores the counters; durable on return. Blocks.
    func persist(_ counters: PolicyCounters) throws(Failure)
}

/// The role that stores the users' answers to apps that asked to use Face ID.
package protocol FacePermissionStore: AnyObject, Sendable {
    /// Returns the stored answers; throws `storeUnreadable` for changed ones.
    func storedFacePermissions() throws(Failure) -> [String: Bool]
    /// Stores the answers; durable on return. Blocks.
    func persist(facePermissions: [String: Bool]) throws(Failure)
}
