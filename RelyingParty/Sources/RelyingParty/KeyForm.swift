// SPDX-License-Identifier: Apache-2.0

/// What a key signs. The numbers are those of the column `raw`.
public enum KeyForm: Int64, CaseIterable, Sendable {
    /// What the client believes it signs.
    case bound = 0
    /// Challenges as they are.
    case raw = 1
    /// Authenticator data and client data (WebAuthn).
    case passkey = 2

    /// The name in requests and reports.
    public var name: String {
        switch self {
        case .bound: "bound"
        case .raw: "raw"
        case .passkey: "passkey"
        }
    }
}

/// What a session belongs to. One kind is never accepted in place of the other: the token of a program would be as weak as
/// a browser that shows a page of an attacker.
public enum SessionKind: Int64, CaseIterable, Sendable {
    /// A program that has the token.
    case program = 0
    /// A browser that has the token in a cookie.
    case browser = 1

    /// People leave browsers open and unattended, so their sessions have fixed limits, which the policy can only shorten.
    func idleSeconds(_ policy: RelyingPartyPolicy) -> Int64 {
        self == .browser ? min(policy.sessionIdleSeconds, Limits.browserIdleSeconds) : policy.sessionIdleSeconds
    }

    func seconds(_ policy: RelyingPartyPolicy) -> Int64 {
        self == .browser ? min(policy.sessionSeconds, Limits.browserSeconds) : policy.sessionSeconds
    }
}
