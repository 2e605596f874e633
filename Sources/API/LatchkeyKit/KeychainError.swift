// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Security

/// Why a keychain call did not succeed.
public struct KeychainError: LocalizedError, Hashable, Sendable {
    /// The kind of failure, for a `switch`.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// There is no such item. Apple: `errSecItemNotFound`.
        case itemNotFound
        /// There is such an item already. Apple: `errSecDuplicateItem`.
        case alreadyThere
        /// The user cancelled the prompt, or the app cancelled the task. Apple: `errSecUserCanceled`.
        case cancelled
        /// The user was not recognised, or the password is wrong. Apple: `errSecAuthFailed`.
        case authenticationFailed
        /// A prompt is needed, but it is not allowed or not possible; also while the device is locked. Apple:
        /// `errSecInteractionNotAllowed`.
        case interactionNotAllowed
        /// The value is larger than the keychain accepts. Apple: `errSecDataTooLarge`.
        case tooLarge
        /// The disk is full; the item is unchanged. Apple: `errSecDiskFull`.
        case diskFull
        /// The keychain cannot be reached, read or written; nothing was changed. Apple: `errSecNotAvailable`,
        /// `errSecInvalidKeychain`, `errSecReadOnly`.
        case notAvailable
        /// The app may not use that access group. Apple: `errSecMissingEntitlement`.
        case notPermitted
        /// The item exists, but its value cannot be decoded as the requested type. Apple: `errSecDecode`.
        case undecodable
        /// The value cannot be encoded as bytes.
        case unencodable
        /// A parameter of the call is wrong. Apple: `errSecParam`.
        case badParameter
        /// Any other failure; see `status`.
        case other
    }

    /// The kind of failure, for a `switch`.
    public let kind: Kind
    /// The code of the keychain; `errSecDecode` or `errSecParam` for failures that this module itself detected.
    public let status: OSStatus
    /// What happened, for display and logs. Never contains a value or a password.
    public let message: String

    /// Why the user was not authenticated, for an operation of a key that demands it; nil for other failures, and for
    /// passwords, whose keychain calls report an `OSStatus` only.
    public let authentication: AuthenticationFailure?

    /// What happened, for display and logs; the same as `message`.
    public var errorDescription: String? { message }

    /// Creates an error from the code of a keychain call.
    ///
    /// Call it on the thread that made the keychain call: the system stores the message of the last failure per
    /// thread. Apple: `SecCopyErrorMessageString`.
    ///
    /// - Parameter status: the code of the call; not `errSecSuccess`.
    public init(status: OSStatus) { self.init(Self.kind(of: status), status: status, message: nil) }

    init(_ kind: Kind, status: OSStatus, message: String?, authentication: AuthenticationFailure? = nil) {
        self.kind = kind
        self.status = status
        self.authentication = authentication
        self.message = message ?? SecCopyErrorMessageString(status, nil) as String? ?? "OSStatus \(status)"
    }

    private static func kind(of status: OSStatus) -> Kind {
        switch status {
        case errSecItemNotFound: .itemNotFound
        case errSecDuplicateItem: .alreadyThere
        case errSecUserCanceled: .cancelled
        case errSecAuthFailed: .authenticationFailed
        case errSecInteractionNotAllowed: .interactionNotAllowed
        case errSecDataTooLarge: .tooLarge
        case errSecDiskFull: .diskFull
        case errSecNotAvailable, errSecInvalidKeychain, errSecReadOnly: .notAvailable
        case errSecMissingEntitlement: .notPermitted
        case errSecDecode: .undecodable
        case errSecParam: .badParameter
        default: .other
        }
    }

    /// Returns whether two errors have equal kinds and codes; the messages may differ.
    ///
    /// - Parameters:
    ///   - left: an error.
    ///   - right: another error.
    /// - Returns: true when `kind` and `status` are equal.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind && left.status == right.status }

    /// Hashes the kind and the code.
    ///
    /// - Parameter hasher: receives `kind` and `status`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(status)
    }
}
