// SPDX-License-Identifier: Apache-2.0

extension SecretBytes {
    /// Whether these bytes have enough characters for a new passcode, at least `Limits.passcodeCharacters`.
    ///
    /// Counts Unicode code points: every byte that is not a UTF-8 continuation byte.
    package var isLongEnoughAsPasscode: Bool {
        withBytes { $0.count { $0 & 0xc0 != 0x80 } } >= Limits.passcodeCharacters
    }
}
