// SPDX-License-Identifier: Apache-2.0

/// A response code (`TPM_RC`, Part 2, section 6.6), with the handle, session or parameter that it names.
package struct TPMResponseCode: Hashable, Sendable {
    package let rawValue: UInt32

    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static let success = TPMResponseCode(0)

    /// Whether the code names a handle, a session or a parameter (format one).
    private var isFormatOne: Bool { rawValue & 0x80 != 0 }

    /// The code without the handle, session or parameter that it names.
    package var kind: TPMResponseCode { isFormatOne ? TPMResponseCode(rawValue & 0xbf) : self }

    /// Whether the TPM did nothing and the same command may be sent again: `TPM_RC_RETRY`, `TPM_RC_YIELDED`,
    /// `TPM_RC_TESTING`, and `TPM_RC_NV_RATE`, with which a TPM limits how fast its memory wears.
    package var isRetry: Bool { [0x922, 0x908, 0x90a, 0x920].contains(rawValue) }

    /// Whether a handle or a session names nothing in the TPM: `TPM_RC_HANDLE`, and `TPM_RC_REFERENCE_H0` to `H6` and `S0`
    /// to `S6` for an object or a session that another program or a resource manager flushed.
    package var isGone: Bool {
        kind == .handleGone || (0x910...0x916).contains(rawValue) || (0x918...0x91e).contains(rawValue)
    }

    /// Whether there is no room for another object: `TPM_RC_OBJECT_MEMORY`, `TPM_RC_MEMORY`, `TPM_RC_OBJECT_HANDLES`.
    package var isObjectMemoryFull: Bool { [0x902, 0x904, 0x906].contains(rawValue) }

    /// Whether there is no room for another session: `TPM_RC_SESSION_MEMORY`, `TPM_RC_MEMORY`, `TPM_RC_SESSION_HANDLES`.
    package var isSessionMemoryFull: Bool { [0x903, 0x904, 0x905].contains(rawValue) }

    // Format one, without the number of the handle, session or parameter.

    package static let attributes = TPMResponseCode(0x082)
    /// A value, such as that of a handle parameter, is not valid.
    package static let value = TPMResponseCode(0x084)
    package static let handleGone = TPMResponseCode(0x08b)
    package static let authorizationFailed = TPMResponseCode(0x08e)
    package static let nonce = TPMResponseCode(0x08f)
    package static let size = TPMResponseCode(0x095)
    /// A structure has fewer bytes than it must have.
    package static let insufficient = TPMResponseCode(0x09a)
    package static let signatureWrong = TPMResponseCode(0x09b)
    package static let policyFailed = TPMResponseCode(0x09d)
    package static let integrity = TPMResponseCode(0x09f)
    package static let badAuthorization = TPMResponseCode(0x0a2)
    package static let expired = TPMResponseCode(0x0a3)
    package static let pointNotOnCurve = TPMResponseCode(0x0a7)

    // Format zero.

    /// The number of an index is not the one that a policy demands (`TPM2_PolicyNV`).
    package static let policyUnsatisfied = TPMResponseCode(0x126)
    package static let authorizationUnavailable = TPMResponseCode(0x12f)
    /// The value of a PCR changed between the check of the policy and the command.
    package static let pcrChanged = TPMResponseCode(0x128)
    /// The TPM has no room for another index.
    package static let indexMemory = TPMResponseCode(0x14b)
    package static let contextGap = TPMResponseCode(0x901)
    package static let objectMemory = TPMResponseCode(0x902)
    package static let sessionMemory = TPMResponseCode(0x903)
    /// The first handle of a command names an object or a session that is not loaded (`TPM_RC_REFERENCE_H0`).
    package static let flushed = TPMResponseCode(0x910)
    package static let lockout = TPMResponseCode(0x921)
}

extension TPMResponseCode: CustomStringConvertible {
    /// The code as the specification writes it, such as `0x9a2`.
    package var description: String { "0x" + String(rawValue, radix: 16) }
}
