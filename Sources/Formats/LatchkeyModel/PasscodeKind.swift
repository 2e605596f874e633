// SPDX-License-Identifier: Apache-2.0

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
