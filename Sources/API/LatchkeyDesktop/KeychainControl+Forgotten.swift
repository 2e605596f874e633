// SPDX-License-Identifier: Apache-2.0

public import LatchkeyModel

// What is left when the passcode is forgotten.

extension KeychainControl {
    /// What a recovery code has opened.
    public struct Recovery: Equatable, Sendable {
        /// Why the keychain was refused before, as a sentence for people, and is accepted as it is now; nil if it was not.
        public let accepted: Phrase?
        /// Number of private keys that cannot be used any more.
        public let lostCount: UInt64
        /// The first of them, with the reason.
        public let lost: [LeftOut]

        init(_ recovered: Reply.Recovered) {
            accepted = recovered.accepted?.message
            lostCount = recovered.lost.count
            lost = recovered.lost.named.map { LeftOut($0) }
        }
    }

    /// Replaces a forgotten passcode: the prompt asks for the recovery code of the keychain and for a new passcode, and
    /// shows a new code. For a keychain with `KeychainOverview.hasRecoveryCode`.
    ///
    /// - Returns: the private keys that are lost.
    /// - Throws: `SettingsFailure`, with code `cancelled` if the user cancels and `noPrompt` if nothing can show the prompt.
    public func recoverPasscode() throws(SettingsFailure) -> Recovery { Recovery(try call(Request.RecoverAtPrompt())) }

    /// Deletes a forgotten passcode and every item with `StoredItem.isDiscardedWithPasscode`. The system's services ask for the
    /// account password at a prompt; a daemon of the user asks nothing, so the caller must.
    ///
    /// - Throws: `SettingsFailure`, with code `cancelled` if the user cancels and `noPrompt` if nothing can show the prompt.
    public func discardForgotten() throws(SettingsFailure) { try call(Request.DiscardForgotten()) }
}
