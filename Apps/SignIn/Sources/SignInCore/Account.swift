// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LatchkeyKit
public import LatchkeySignIn

/// The account for which this device is registered. Contains no secret.
public struct Account: Codable, Hashable, Sendable {
    /// Which proof releases the key of the account.
    public enum Release: String, Codable, Hashable, Sendable, CaseIterable {
        /// A finger or a face that was enrolled when the key was made.
        case biometry
        /// A finger, a face, or the passcode of the device.
        case presence

        /// The protection of the key in the keychain.
        public var protection: KeychainProtection { self == .biometry ? .currentBiometry : .userPresence }
    }

    /// The name of the user.
    public var user: String
    /// The address of the server.
    public var address: URL
    /// The name of the relying party.
    public var relyingPartyID: String
    /// Which proof releases the key.
    public var release: Release

    /// Creates an account.
    public init(user: String, address: URL, relyingPartyID: String, release: Release) {
        self.user = user
        self.address = address
        self.relyingPartyID = relyingPartyID
        self.release = release
    }

    /// Whether two accounts have one key: the keychain has one for each user of a relying party.
    func sharesKey(with other: Account) -> Bool {
        user.utf8.elementsEqual(other.user.utf8) && relyingPartyID == other.relyingPartyID
    }

    /// The server of the account.
    ///
    /// - Throws: `SignInError` with the kind `invalidServer` for an address that is not acceptable.
    public func server() throws(SignInError) -> RelyingPartyServer {
        try RelyingPartyServer(url: address, relyingPartyID: relyingPartyID)
    }
}
