// SPDX-License-Identifier: Apache-2.0

public import LatchkeyKit
public import LatchkeySignIn

/// A message to the user about what happened, with what can be done.
public struct Notice: Hashable, Sendable {
    /// A button of a message.
    public enum Offer: Hashable, Sendable {
        /// Register this device again, with a new enrolment code.
        case newCode
        /// Unlock the sensor with the passcode, and go on.
        case passcode
        /// Delete the key from this device without telling the server.
        case removeHere

        /// The title of the button.
        public var title: String {
            switch self {
            case .newCode: "Use a New Code"
            case .passcode: "Enter Passcode"
            case .removeHere: "Remove Only Here"
            }
        }

        /// Whether the offer is what the user does next, in place of the button of the page. A deletion is not.
        public var goesOn: Bool { self != .removeHere }
    }

    /// What happened.
    public var words: String
    /// What the user can do; nil when there is nothing to do.
    public var help: String?
    /// Whether something failed.
    public var isError: Bool
    /// A button of the message; nil for none.
    public var offer: Offer?
    /// What lies behind it, for a person who knows the parts of the keychain; nil if the message says it all.
    public var details: String?

    init(_ words: String, help: String? = nil, isError: Bool = false, offer: Offer? = nil) {
        self.words = words
        self.help = help
        self.isError = isError
        self.offer = offer
    }
}

/// Something that failed, as the state machine sees it.
public struct Failure: Error, Hashable, Sendable {
    /// What was tried.
    public enum Operation: Hashable, Sendable, CaseIterable {
        /// Registration of this device.
        case registration
        /// A sign-in.
        case signIn
        /// The approval of the payment.
        case approval
        /// A sign-out.
        case signOut
        /// Revocation and deletion of the key.
        case forgetting
        /// The passcode that unlocks the sensor.
        case unlocking
    }

    /// What was tried.
    public var operation: Operation
    /// What went wrong.
    public var kind: SignInError.Kind
    /// What happened, for display.
    public var words: String
    /// What to do, for display.
    public var help: String?

    /// Creates a failure.
    public init(_ operation: Operation, _ kind: SignInError.Kind, words: String, help: String? = nil) {
        self.operation = operation
        self.kind = kind
        self.words = words
        self.help = help
    }

    /// Creates the failure of a call of `LatchkeySignIn`.
    public init(_ operation: Operation, _ error: SignInError) {
        self.init(
            operation, error.kind, words: error.errorDescription ?? "Something went wrong.",
            help: error.recoverySuggestion)
    }

    /// Creates the failure of a call of the keychain.
    public init(_ operation: Operation, _ error: KeychainError) {
        self.init(operation, .keychain, words: error.message)
    }
}
