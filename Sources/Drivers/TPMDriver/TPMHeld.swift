// SPDX-License-Identifier: Apache-2.0

import LatchkeySeams
import TPMProtocol

/// What one connection keeps in the memory of the TPM for later commands: one key, the key of one authority, and sessions.
///
/// A TPM has room for three objects and three sessions, which other commands need as well, such as those that are carried
/// for `latchkey-authd`. So `TPMConnection` removes what is kept when the TPM has no room for a command.
struct TPMHeld: Sendable {
    /// A session of a begun use.
    struct Begun: Sendable {
        let session: TPMSession
        /// What loads the session again; nil while it is loaded.
        var context: [UInt8]?
        /// Whether the use has not ended.
        let isBegun: @Sendable () -> Bool
    }
    var key: TPMEntity?
    var authority: TPMEntity?
    /// The session of the last use, which the next one may have.
    var idle: TPMSession?
    /// The sessions of uses that were begun and not finished.
    var begun: [KeyChallenge.Identifier: Begun] = [:]
}
