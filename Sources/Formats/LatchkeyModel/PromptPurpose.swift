// SPDX-License-Identifier: Apache-2.0

/// The operation for which a prompt is shown. Raw values are part of the wire format and never reused.
package enum PromptPurpose: UInt8, CaseIterable, Sendable {
    /// An app requests authentication; the prompt quotes the app's reason.
    case app = 0
    // For all other purposes the prompt shows a fixed text for the operation and no text of the caller, except the name
    // of a relying party or of an item.
    case unlock = 1
    case exportItems = 2
    case importItems = 3
    case changePasscode = 4
    case removePasscode = 5
    case discardProtected = 6
    case acceptStore = 7
    case setPasscode = 8
    /// The daemon of a user's own store hands its items to the system's keychain.
    case moveItemsAway = 9
    /// The system's keychain receives the items of a user's own store.
    case receiveItems = 10
    /// The device is identified to a relying party. The prompt quotes the name of the relying party as its reason.
    case identifyDevice = 11
    /// A recovery code opens the keychain, and a new passcode and a new code are chosen.
    case recoverPasscode = 12
    /// The names and access controls of the items of every app are listed.
    case listNames = 13
    /// An item of any app is deleted. The prompt quotes the name of the item as its reason.
    case deleteItem = 14
    /// A program reads an item of the Secret Service that another one stored. The prompt quotes the label of the item as its
    /// reason, and `Prompt.startedBy`.
    case readSecret = 15
    /// The same for a change of such an item, which is asked for each time.
    case changeSecret = 16
    /// The same for its removal.
    case deleteSecret = 17
    /// A program stores an item in place of one that was copied from another keyring, which belongs to it afterwards. The prompt
    /// quotes the label of that item as its reason, and `Prompt.startedBy`.
    case replaceSecret = 18
    /// What is proven before an item of the Secret Service is read is changed. The prompt quotes the label of the item as its
    /// reason, and `Prompt.startedBy`, also for an item that the program stored.
    case protectSecret = 19

    /// Whether the prompt may be shown while the device is locked: it unlocks it, or ends the passcode without which it stays
    /// locked, or the state of a store that counts as locked because its record cannot be read.
    package var mayAskWhileLocked: Bool { [.unlock, .recoverPasscode, .discardProtected, .acceptStore].contains(self) }

    /// The word that a person types at the prompt, in step `recoveryCodeAsked`, before the operation is carried out; nil
    /// where that step asks for a recovery code. The word is the same in every language.
    package var confirmationWord: String? { self == .acceptStore ? "accept" : nil }

    /// Whether the prompt quotes a reason: that of an app, or the name of a relying party or of an item.
    package var hasReason: Bool {
        switch self {
        case .app, .identifyDevice, .deleteItem, .readSecret, .changeSecret, .deleteSecret, .replaceSecret,
            .protectSecret:
            true
        default: false
        }
    }
}

/// The step of an evaluation that follows when every stage of its plan is complete.
package enum LastStep: UInt8, CaseIterable, Sendable {
    /// No further step; the evaluation ends.
    case none = 0
    /// The prompt shows a recovery code until the user confirms that it is written down.
    case showsRecoveryCode = 1
    /// The prompt asks for the recovery code of a backup, or for the word that confirms the operation
    /// (`PromptPurpose.confirmationWord`).
    case asksRecoveryCode = 2
    /// The prompt asks for a new passcode, twice.
    case asksNewPasscode = 3
    /// The prompt asks for the end of the recovery code that was shown before. Only `latchkey-authd` asks for it.
    case repeatsRecoveryCode = 4
    /// The prompt asks whether the program may read the item: once, for this session, always or never. What is entered is the
    /// text of a `SecretAnswer`.
    case asksAnswer = 5
    /// The same where no answer is kept: the prompt offers `SecretAnswer.once` alone.
    case asksOnce = 6
}
