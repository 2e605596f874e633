// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LatchkeyKit

/// Why a call of ``DeviceCredential`` or ``SignInSession`` did not succeed.
///
/// Descriptions are for display. They contain no token, no code, no challenge, and no text that the server sent.
public struct SignInError: LocalizedError, Hashable, Sendable {
    /// The kind of failure, for a `switch`.
    public enum Kind: Hashable, Sendable {
        // Before anything is sent.

        /// The address or the name of the relying party is not acceptable.
        case invalidServer(ServerPart)
        /// An argument is not one that servers accept, or that a prompt can show.
        case invalidArgument(Argument)
        /// This device has a key for the user and the relying party already.
        case alreadyRegistered
        /// The key is not in the keychain any more: it was removed, or rotated by another process.
        case keyNotFound
        /// The session has expired or is one of another credential, or a request is for another server.
        case sessionNotUsable

        // The connection.

        /// The server cannot be reached: no network, no such host, or nothing listens there.
        case offline
        /// The server took longer than ``RelyingPartyServer/timeout``.
        case tooSlow
        /// The certificate of the server is not from an authority that this machine trusts, or is for another host.
        case certificateNotTrusted
        /// The server redirects to another address. Redirections are never followed.
        case redirected
        /// The reply is none of `docs/reference/relying-party.md`: too large, not JSON, or with other members.
        case unexpectedReply
        /// The request was sent and the server has not refused it: the connection ended, or the reply is none that says what
        /// happened. So the server may have accepted the request.
        case outcomeUnknown(Request)

        // What the server's challenge says. The user was not asked for a finger.

        /// The challenge is one of another relying party.
        case otherRelyingParty
        /// The challenge is for another user, key, purpose or act.
        case foreignChallenge
        /// The challenge has expired already, or is valid for longer than a server may permit.
        case staleChallenge
        /// The clocks of this machine and of the server differ by this many minutes; positive if this machine is ahead.
        case clockDiffers(minutes: Int)

        // What the server answered.

        /// The server does not accept the request. It does not say why.
        case refused(Request)
        /// The server permits no more tries for now; with the seconds until the next one, if it named them.
        case tooManyTries(seconds: Int?)
        /// The server reports a failure of its own.
        case serverNotAvailable

        // The user and this machine.

        /// The user cancelled the prompt, or the task was cancelled.
        case cancelled
        /// The enrolled fingers or faces changed since the key was created, so it can never be used again.
        case enrollmentChanged
        /// The machine has no passcode, so it makes no keys for signing in.
        case passcodeNotSet
        /// No finger or face is enrolled.
        case biometryNotEnrolled
        /// Biometry is locked after too many tries.
        case biometryLockedOut
        /// Biometry cannot be used: there is no sensor, or the app may not use it.
        case biometryNotAvailable
        /// The user was not recognised, or no prompt can be shown; see ``SignInError/underlying``.
        case notAuthenticated
        /// The keychain failed; see ``SignInError/underlying``.
        case keychain
    }

    /// A request to the server.
    public enum Request: Hashable, Sendable, CaseIterable {
        /// A new key is registered.
        case registration
        /// A session is opened.
        case signIn
        /// An act is approved.
        case stepUp
        /// A key is replaced.
        case rotation
        /// Keys are revoked.
        case revocation
        /// A session is ended.
        case signOut
        /// A browser shall show the page for administrators.
        case administration
    }

    /// A part of a ``RelyingPartyServer``.
    public enum ServerPart: Hashable, Sendable, CaseIterable {
        /// The address.
        case address
        /// The name of the relying party.
        case relyingPartyID
    }

    /// An argument of a call.
    public enum Argument: Hashable, Sendable, CaseIterable {
        /// The name of the user.
        case user
        /// The name of the device.
        case deviceName
        /// The enrolment code.
        case enrollmentCode
        /// The act of a step-up.
        case act
        /// The keys that are to be revoked.
        case revocationTarget
    }

    /// The kind of failure, for a `switch`.
    public let kind: Kind
    /// The error of the keychain that is the reason, with its `OSStatus` and, after a prompt, the `LAError`; nil if the
    /// keychain is not the reason.
    public let underlying: KeychainError?

    init(_ kind: Kind, underlying: KeychainError? = nil) { (self.kind, self.underlying) = (kind, underlying) }

    /// Returns whether two errors have equal kinds; what is underlying may differ.
    ///
    /// - Parameters:
    ///   - left: an error.
    ///   - right: another error.
    /// - Returns: true when `kind` is equal.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    /// Hashes the kind.
    ///
    /// - Parameter hasher: receives `kind`.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}
