// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import FoundationNetworking
internal import KeyFormats
internal import LatchkeyModel

/// A session that a server opened for a ``DeviceCredential``.
///
/// The token of the session is in memory that is overwritten when the last reference is released. No description, mirror
/// or error contains it; requests get it by ``authorize(_:)``, and only requests to the server that issued it.
/// `URLSession` copies headers, and those copies are not overwritten.
public final class SignInSession: Sendable {
    /// The name of the user who is signed in.
    public let user: String
    /// The server that opened the session.
    public let server: RelyingPartyServer
    /// The identifier of the key with which the user signed in, 32 bytes.
    public let keyIdentifier: Data
    /// When the session ends at the latest, by the clock of the server. Servers also end sessions that are not used.
    public let expires: Date

    let token: SecretBytes

    init(_ credential: DeviceCredential, token: SecretBytes, expires: Date) {
        user = credential.user
        server = credential.server
        keyIdentifier = credential.identifier
        self.token = token
        self.expires = expires
    }

    /// Adds the token to a request, as the header `Authorization` (RFC 6750, section 2.1).
    ///
    /// Does not block.
    ///
    /// > Warning: Do not send the request by `URLSession.shared`. It follows redirections, and FoundationNetworking sends
    /// > the token to wherever they lead, also to another host. Use a session whose delegate refuses redirections, as in
    /// > <doc:SignInWithADeviceKey>; a delegate that is passed to `data(for:delegate:)` is not asked.
    ///
    /// - Parameter request: a request with the scheme, host and port of ``server``.
    /// - Throws: `SignInError` with the kind `sessionNotUsable` for a request to another address, which is not changed.
    public func authorize(_ request: inout URLRequest) throws(SignInError) {
        guard let url = request.url, let address = ServerAddress(url, ignoringPath: true),
            address.url == server.url
        else { throw SignInError(.sessionNotUsable) }
        request.setValue("Bearer \(Base64.url.encode(token.copyBytes()))", forHTTPHeaderField: "Authorization")
    }

    /// Ends the session at the server.
    ///
    /// Suspends until the server has answered; never prompts. A session that has ended already is not an error.
    ///
    /// - Throws: `SignInError` when the server cannot be reached or fails. The session may exist until it expires then.
    public func signOut() async throws(SignInError) { try await Exchange(server).endSession(self) }
}

extension SignInSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The user and the relying party, without the token.
    public var description: String { "SignInSession of \(user) at \(server.relyingPartyID)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
