// SPDX-License-Identifier: Apache-2.0

/// The assurance tier of a store: where its root key is and which processes protect it.
///
/// Written to the store's header and bound into every record; a daemon of one tier refuses a store of another.
package enum Tier: UInt8, CaseIterable, Sendable {
    /// Two services, root key sealed in a TPM.
    case tpm = 1
    /// Two services, root key in a file of the service's user.
    case file = 2
    /// One daemon per user, root key in a file of that user.
    case user = 3
    /// Scripted sensors and a virtual clock, for tests, CI and demonstrations.
    case simulated = 4

    /// The name shown to the user and used in the configuration.
    package var name: String {
        switch self {
        case .tpm: "tpm"
        case .file: "file"
        case .user: "user"
        case .simulated: "simulated"
        }
    }

    /// Whether a store is bound to the name of its account. A store that a service has outside the account's home
    /// folder remains when the account is deleted, and a later account may get the same number.
    package var bindsAccount: Bool {
        switch self {
        case .tpm, .file: true
        case .user, .simulated: false
        }
    }

    /// The tier with the given name; nil if there is none.
    package init?(name: String) {
        guard let tier = Tier.allCases.first(where: { $0.name == name }) else { return nil }
        self = tier
    }
}
