// SPDX-License-Identifier: Apache-2.0

/// The assurance tier: what the secrets of a store rest on (`DESIGN`, section 2).
///
/// Written in the store's header and bound into every record; a store made in one tier is refused in another.
package enum Tier: UInt8, CaseIterable, Sendable {
    /// Two services, root key sealed in a TPM.
    case tpm = 1
    /// Two services, root key in a file of the service's user.
    case file = 2
    /// One daemon per user, root key in a file of that user.
    case user = 3
    /// Scripted sensors and a virtual clock: tests, CI, demonstrations.
    case simulated = 4

    /// The name used on the wire's status, in configuration and on the screen.
    package var name: String {
        switch self {
        case .tpm: "tpm"
        case .file: "file"
        case .user: "user"
        case .simulated: "simulated"
        }
    }

    /// The tier of that name.
    package init?(name: String) {
        guard let tier = Tier.allCases.first(where: { $0.name == name }) else { return nil }
        self = tier
    }
}
