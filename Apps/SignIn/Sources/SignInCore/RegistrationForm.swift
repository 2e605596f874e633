// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the user types to register this device.
public struct RegistrationForm: Hashable, Sendable {
    /// The address of the server, with or without a scheme.
    public var server: String
    /// The name of the relying party; empty for the host of the server.
    public var relyingParty: String
    /// The name of the user.
    public var user: String
    /// The code that the operator of the server made for the user.
    public var code: String
    /// Which proof releases the key.
    public var release: Account.Release

    /// Creates a form.
    public init(
        server: String = "", relyingParty: String = "", user: String = "", code: String = "",
        release: Account.Release = .biometry
    ) {
        self.server = server
        self.relyingParty = relyingParty
        self.user = user
        self.code = code
        self.release = release
    }

    /// Creates the form of an account that is registered again.
    ///
    /// - Parameter account: the account; nil for an empty form.
    public init(_ account: Account?) {
        self.init(
            server: account?.address.absoluteString ?? "", relyingParty: account?.relyingPartyID ?? "",
            user: account?.user ?? "", release: account?.release ?? .biometry)
    }

    /// Whether nothing that is needed is empty.
    public var isComplete: Bool { ![server, user, code].contains { Self.trimmed($0).isEmpty } }

    /// The account that the form describes; nil when the server is no address. `Account.server()` checks the rest.
    public var account: Account? {
        let text = Self.trimmed(server)
        // A name without a scheme means https, except on this machine, whose loopback interface no other machine can read.
        let hasScheme = text.contains("://")
        guard var parts = URLComponents(string: hasScheme ? text : "https://" + text), let host = parts.host,
            !host.isEmpty
        else { return nil }
        if !hasScheme, ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host.lowercased()) { parts.scheme = "http" }
        guard let address = parts.url else { return nil }
        let name = Self.trimmed(relyingParty)
        return Account(
            user: Self.trimmed(user), address: address,
            relyingPartyID: name.isEmpty ? host.lowercased() : name, release: release)
    }

    /// The enrolment code without the spaces around it.
    var trimmedCode: String { Self.trimmed(code) }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}
