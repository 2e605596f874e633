// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

/// The values of passcodes that a chip has accepted, by the challenges of the tokens that prove them. A value proves the
/// passcode to the keys of the chip, so that a passcode which was typed once can be used for several operations.
package typealias PasscodeValues = ExpiringTable<[UInt8], SecretBytes>

extension PasscodeValues {
    /// Creates an empty table, whose alarms are those of `clock`.
    package convenience init(clock: any Clock) {
        self.init(clock: clock, seconds: Limits.passcodeValueSeconds, limit: KeyGrants.limit)
    }
}
