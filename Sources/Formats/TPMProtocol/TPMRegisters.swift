// SPDX-License-Identifier: Apache-2.0

/// A selection of platform configuration registers (PCRs) of the SHA-256 bank (`TPML_PCR_SELECTION`, Part 2, section
/// 10.9.7).
package struct TPMRegisters: Equatable, Sendable {
    package let encoded: [UInt8]

    /// PCR 7, which the firmware extends with the state and the keys of Secure Boot ("TCG PC Client Platform Firmware
    /// Profile", section 3.3.4.8). One selection; SHA-256; 3 bytes of bits, of which bit 7 is set.
    package static let secureBoot = TPMRegisters(encoded: [0, 0, 0, 1, 0x00, 0x0b, 3, 0x80, 0, 0])
}
