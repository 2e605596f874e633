// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The state of the app. Apple's sample has the two states `loggedin` and `loggedout`; a key that is registered adds one.
public enum SignInState: Hashable, Sendable {
    /// The keychain was not read yet.
    case starting
    /// The keychain cannot be read, with the reason. Starting again reads it again.
    case unavailable(String)
    /// The device is to be registered. The account is that of the former key, if there was one; `hasKey` says whether the
    /// device still has that key.
    case registering(former: Account?, hasKey: Bool)
    /// The device has a key and no session.
    case signedOut(Account)
    /// The device has a session that ends at a time.
    case signedIn(Account, expires: Date)

    /// Whether there is a session.
    public var isSignedIn: Bool { if case .signedIn = self { true } else { false } }

    /// The account of the state; nil when there is none.
    public var account: Account? {
        switch self {
        case .starting, .unavailable: nil
        case .registering(let former, _): former
        case .signedOut(let account), .signedIn(let account, _): account
        }
    }
}

/// What happens to the app.
public enum SignInEvent: Hashable, Sendable {
    /// The keychain was read.
    case started(Account?, hasKey: Bool)
    /// The keychain cannot be read, with the reason.
    case startFailed(String)
    /// The server has registered the key.
    case registered(Account)
    /// The server may have registered the key, or the device had one already.
    case mayBeRegistered(Account, Failure)
    /// The server has opened a session.
    case signedIn(expires: Date)
    /// The server has accepted an approval.
    case approved(act: String)
    /// Something failed.
    case failed(Failure)
    /// The time of the session is over.
    case expired
    /// The session was ended.
    case signedOut
    /// The key was deleted, and the server was told or not.
    case forgotten(atServer: Bool)
    /// The passcode has unlocked the sensor of this name.
    case sensorUnlocked(String)
    /// The user has a new enrolment code.
    case wantsNewCode
    /// The former key was deleted, to make place for a new one.
    case keyDeleted
    /// The user does not want to register after all.
    case keepsKey
    /// The user has read the message.
    case dismissed
}

/// Decides which state follows, and what the user is told. A value without side effects.
public struct SignInMachine: Hashable, Sendable {
    /// The state.
    public private(set) var state = SignInState.starting
    /// What the user is told; nil for nothing.
    public private(set) var notice: Notice?

    /// Creates a machine that has not started.
    public init() {}

    /// Takes in what happened. An event that does not belong to the state changes nothing.
    public mutating func handle(_ event: SignInEvent) {
        switch (event, state) {
        case (.started(nil, _), .starting), (.started(nil, _), .unavailable):
            move(to: .registering(former: nil, hasKey: false))
        case (.started(let account?, let hasKey), .starting), (.started(let account?, let hasKey), .unavailable):
            if hasKey {
                move(to: .signedOut(account))
            } else {
                move(to: .registering(former: account, hasKey: false), Self.notRegistered)
            }
        case (.startFailed(let words), .starting), (.startFailed(let words), .unavailable):
            move(to: .unavailable(words))
        case (.registered(let account), .registering):
            move(to: .signedOut(account), Notice("This device is registered.", help: "Sign in to begin."))
        case (.mayBeRegistered(let account, let failure), .registering):
            move(to: .signedOut(account), Notice(failure.words, help: failure.help, isError: true))
        case (.signedIn(let expires), .signedOut(let account)): move(to: .signedIn(account, expires: expires))
        // The session may have ended while the server answered; what was approved is told nevertheless.
        case (.approved(let act), .signedIn), (.approved(let act), .signedOut):
            notice = Notice("Approved: \(act).", help: "The server has written it into its audit log.")
        case (.failed(let failure), _): fail(failure)
        case (.expired, .signedIn(let account, _)):
            move(to: .signedOut(account), Notice("Your session has ended.", help: "Sign in again to go on."))
        case (.signedOut, .signedIn(let account, _)): move(to: .signedOut(account))
        case (.forgotten(let atServer), .signedOut):
            move(to: .registering(former: nil, hasKey: false), atServer ? Self.forgotten : Self.removedHere)
        case (.sensorUnlocked(let name), _): notice = Notice("\(name) is unlocked.")
        case (.wantsNewCode, .signedOut(let account)): move(to: .registering(former: account, hasKey: true))
        case (.keepsKey, .registering(let former?, hasKey: true)): move(to: .signedOut(former))
        case (.keyDeleted, .registering(let former, _)): state = .registering(former: former, hasKey: false)
        case (.dismissed, _): notice = nil
        default: break
        }
    }

    private mutating func move(to state: SignInState, _ notice: Notice? = nil) {
        self.state = state
        self.notice = notice
    }

    // MARK: - Failures

    /// Each failure ends in a state in which the user can continue, with a text that says how.
    private mutating func fail(_ failure: Failure) {
        // The end of the session cancelled the approval, and has a message of its own.
        if failure.kind == .cancelled, failure.operation == .approval, !state.isSignedIn { return }
        var told = Notice(failure.words, help: failure.help, isError: failure.kind != .cancelled)
        if failure.kind == .keychain {
            told = Notice("The keychain cannot be used at the moment.", help: "Try again.", isError: true)
            told.details = [failure.words, failure.help].compactMap { $0 }.joined(separator: "\n")
        }
        switch (failure.kind, failure.operation) {
        case (.cancelled, .signIn):
            told.help = "Sign in again, or register with a new code and choose the passcode."
        case (.cancelled, .approval): told = Notice("Nothing was approved.")
        case (.cancelled, .forgetting): told = Notice("The key was kept.")
        case (.cancelled, .registration): told = Notice("This device was not registered.")
        case (.cancelled, .unlocking): told = Notice("The sensor is still locked.")
        case (.biometryLockedOut, _): told.offer = .passcode
        case (_, .forgetting): told.offer = .removeHere
        case (.enrollmentChanged, _):
            told.help = "Ask the operator for an enrolment code, and register this device again."
            told.offer = .newCode
        case (.keyNotFound, _), (.refused(.signIn), _): told.offer = .newCode
        default: break
        }
        if endsSession(failure), case .signedIn(let account, _) = state { state = .signedOut(account) }
        notice = told
    }

    /// Whether a session cannot be used any more after a failure: its key is dead, or the server has ended it.
    private func endsSession(_ failure: Failure) -> Bool {
        switch failure.kind {
        case .enrollmentChanged, .keyNotFound, .sessionNotUsable, .refused: true
        default: failure.operation == .signOut
        }
    }

    private static let notRegistered = Notice(
        "This device has no key for your account.", help: "Ask the operator for an enrolment code.")
    private static let forgotten = Notice("This device is forgotten.", help: "The server has revoked its key.")
    private static let removedHere = Notice(
        "The key was removed from this device.",
        help: "The server still lists it, but it cannot be used any more. Ask the operator to revoke it.")
}
