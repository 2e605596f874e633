// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Security

/// Why a keychain call did not succeed.
public struct KeychainError: LocalizedError, Hashable, Sendable {
    /// What kind of failure it is, for a `switch`.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// There is no such item.
        case itemNotFound
        /// There is such an item already.
        case alreadyThere
        /// The person cancelled the prompt, or the app the task.
        case cancelled
        /// The person was not recognised, or the password is wrong.
        case authenticationFailed
        /// Somebody would have to be asked, and that is not allowed or not possible; also while the device is locked.
        case interactionNotAllowed
        /// The value is too large for the keychain.
        case tooLarge
        /// The disk is full; the item is as it was.
        case diskFull
        /// The keychain cannot be reached or read; nothing was changed.
        case notAvailable
        /// The app may not use that access group.
        case notPermitted
        /// The item is there, and its bytes are not what was asked for.
        case undecodable
        /// The value cannot be turned into bytes.
        case unencodable
        /// The call itself is wrong.
        case badParameter
        /// Anything else: the status tells.
        case other
    }

    /// The kind.
    public let kind: Kind
    /// The keychain's code; `errSecDecode` and `errSecParam` where the keychain was not the one that refused.
    public let status: OSStatus
    /// What happened, in words. Never holds a value or a password.
    public let message: String

    /// What happened, in words.
    public var errorDescription: String? { message }

    /// Takes a code of the keychain, on the thread of the call: the system keeps the words of each thread's last call.
    public init(status: OSStatus) { self.init(Self.kind(of: status), status: status, message: nil) }

    init(_ kind: Kind, status: OSStatus, message: String?) {
        self.kind = kind
        self.status = status
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

    /// Equal for equal kinds and codes, whatever the words.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind && left.status == right.status }

    /// Equal for equal errors.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(status)
    }
}
