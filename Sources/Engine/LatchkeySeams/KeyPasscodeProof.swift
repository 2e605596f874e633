// SPDX-License-Identifier: Apache-2.0

/// What the proof of a passcode is valid for.
package struct KeyPasscodeProof: Equatable, Sendable {
    /// The handle and the nonce of the chip's session.
    package let session: UInt32
    package let nonce: [UInt8]
    /// The digest of the command, 32 bytes.
    package let command: [UInt8]
    /// The reference of the key's policy, 32 bytes.
    package let reference: [UInt8]
    /// Seconds from the nonce until the proof expires; positive.
    package let expirySeconds: Int32

    package init(session: UInt32, nonce: [UInt8], command: [UInt8], reference: [UInt8], expirySeconds: Int32) {
        (self.session, self.nonce, self.command) = (session, nonce, command)
        (self.reference, self.expirySeconds) = (reference, expirySeconds)
    }
}
