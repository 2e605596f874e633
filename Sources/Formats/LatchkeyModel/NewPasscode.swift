// SPDX-License-Identifier: Apache-2.0

extension SecretBytes {
    /// Whether these bytes have enough characters for a new passcode of a tier.
    ///
    /// Counts Unicode code points: every byte that is not a UTF-8 continuation byte.
    package func isLongEnoughAsPasscode(in tier: Tier) -> Bool {
        withBytes { $0.count { $0 & 0xc0 != 0x80 } } >= tier.passcodeCharacters
    }
}

extension Tier {
    /// Minimum characters of a new passcode.
    package var passcodeCharacters: Int {
        switch self {
        case .user, .simulated, .file: Limits.passcodeCharacters
        case .tpm: Limits.tpmPasscodeCharacters
        }
    }
}

/// What a passcode is. Raw values are part of the record's format and of the wire format, and never reused.
package enum PasscodeKind: UInt8, CaseIterable, Sendable {
    /// A secret that only Latchkey has.
    case own = 0
    /// The password of the user's account, which the system verifies first.
    case account = 1

    /// The name in the configuration and in the JSON of commands.
    package var name: String {
        switch self {
        case .own: "own"
        case .account: "account"
        }
    }
}
