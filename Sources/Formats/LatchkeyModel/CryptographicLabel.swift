// SPDX-License-Identifier: Apache-2.0

/// The labels used in key derivation, in authentication codes and as associated data of encryption.
///
/// The bytes are part of the store format and of the backup format: changing a label makes all existing data
/// unreadable. `Tests/Vectors/labels.tsv` holds a golden value for each label.
package enum CryptographicLabel: String, CaseIterable, Sendable {
    // Keys derived from K_root.
    case header = "latchkey header v1"
    case anchor = "latchkey anchor v1"
    // Keys derived from U_auto.
    case metadata = "latchkey metadata v1"
    case index = "latchkey index v1"
    case audit = "latchkey audit v1"
    case record = "latchkey record v1"
    case counters = "latchkey counters v1"
    /// The key with which the authority of the tiers `user` and `simulated` approves uses of a TPM's keys.
    case approval = "latchkey approval v1"
    // Keys derived from the keys above.
    case chain = "latchkey chain v1"
    case set = "latchkey set v1"
    case domain = "latchkey domain v1"
    // Keys that wrap row keys.
    case accessibilityClass = "latchkey class v1"
    case wrap = "latchkey wrap v1"
    /// The same for a row key that only the passcode opens.
    case passcodeWrap = "latchkey passcode wrap v1"
    /// The key pair that is derived from U_pass, for which such row keys are sealed.
    case passcodePair = "latchkey passcode pair v1"
    /// The password of a key module, derived from a stretched application password.
    case moduleKey = "latchkey module v1"
    // Associated data.
    case attributes = "latchkey attributes v1"
    case secret = "latchkey secret v1"
    case reference = "latchkey reference v1"
    case backup = "latchkey backup v1"
    // Tokens between the authority and the service, and what they are bound to.
    case token = "latchkey token v1"
    case binding = "latchkey binding v1"
    /// The reference that the policy of a TPM's key contains.
    case keyPolicy = "latchkey key policy v1"
    /// The same for a key that demands the passcode of the TPM itself.
    case passcodeKeyPolicy = "latchkey key policy v2"
    /// The policy that marks a counter of a TPM as the one of a store.
    case counterPolicy = "latchkey counter policy v1"
    /// The same for the counter of the enrolment sets of a store.
    case enrolmentCounterPolicy = "latchkey enrolment counter policy v1"
    /// The key under which a recovery code opens the root key of a store on a TPM.
    case rootRecovery = "latchkey root recovery v1"
    // What latchkey-authd derives from a recovery code.
    /// The private key for which the keys of slots are encrypted.
    case recoveryKey = "latchkey recovery key v1"
    /// The secret that latchkeyd gets, from which `rootRecovery` is derived.
    case recoveryRoot = "latchkey recovery root v1"
    /// The key of one encryption for a recovery code.
    case recoverySlot = "latchkey recovery slot v1"
    /// The key under which a recovery code opens the copy of the key that approves uses of a TPM's keys.
    case recoveryApproval = "latchkey recovery approval v1"
    // Keys that latchkey-authd derives from a stretched passcode.
    case passcodeVerifier = "latchkey verifier v1"
    case slotHalf = "latchkey slot half v1"
    case slotKey = "latchkey slot key v1"
    /// The value of the passcode's index in a TPM.
    case passcodeValue = "latchkey passcode value v1"
    /// The key under which the sealed secret of a passcode opens the key that resets its index.
    case passcodeReset = "latchkey passcode reset v1"
    /// The checksum of the files of latchkey-authd.
    case authorityFile = "latchkey authority file v1"

    /// The enrolment set of a user's fingerprints.
    case fingers = "latchkey fingers v1"
    /// The same without the files of the prints, so that a replaced print cannot be detected.
    case fingerNames = "latchkey finger names v1"
    /// The one enrolment set of a user whose faces a PAM module knows.
    case face = "latchkey face v1"

    /// The label in UTF-8.
    package var bytes: [UInt8] { Array(rawValue.utf8) }
}

/// The magic bytes at the start of each file of the store other than the database, and of a backup.
package enum FileMark: String, CaseIterable, Sendable {
    case rootKey = "latchkey root 1\n"
    case sealedRootKey = "latchkey sealed root 1\n"
    case anchor = "latchkey anchor 1\n"
    /// What latchkey-authd has latchkeyd store for the loss of its own files.
    case recoveryCopy = "latchkey recovery copy 1\n"
    case counters = "latchkey counters 1\n"
    case backup = "LATCHKEY BACKUP"
    // Files of latchkey-authd.
    case passcodes = "latchkey passcodes 1\n"
    case permissions = "latchkey permissions 1\n"
    case account = "latchkey account 1\n"
    case approvalKey = "latchkey approval 1\n"
    case enrolment = "latchkey enrolment 1\n"

    /// The magic bytes in UTF-8.
    package var bytes: [UInt8] { Array(rawValue.utf8) }
}

/// The names of the store's own records. A record is bound to its name, so the names are part of the store format.
package enum RecordName: String, CaseIterable, Sendable {
    case header = "header"
    case headerCode = "header.code"
    case automaticSlot = "slot.automatic"
    /// The name to which the passcode slot of the anchor file is bound.
    case passcodeSlot = "slot.passcode"
    /// Store generation, face permissions and lock state.
    case state = "state"
    case auditEnd = "audit.end"
    /// Exists while the files have copies of rows from before they were sealed under more keys.
    case oldCopies = "copies"
}
