// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The public area of an NV index (`TPMS_NV_PUBLIC`, Part 2, section 13.5).
package struct TPMIndexArea: Equatable, Sendable {
    package let handle: TPMHandle
    package var attributes: TPMIndexAttributes
    /// The digest of the policy; empty for none.
    package let policy: [UInt8]
    /// Bytes of the contents.
    package let size: UInt16

    package init(handle: TPMHandle, attributes: TPMIndexAttributes, policy: [UInt8], size: UInt16) {
        (self.handle, self.attributes, self.policy, self.size) = (handle, attributes, policy, size)
    }

    /// A counter. It is not orderly: the number of an orderly one jumps when the power is cut.
    package static func counter(at handle: TPMHandle, policy: [UInt8]) -> TPMIndexArea {
        TPMIndexArea(
            handle: handle, attributes: [.counter, .authorizationReads, .authorizationWrites, .withoutLockout],
            policy: policy, size: 8)
    }

    /// An index whose value only its policy writes and changes, and that counts wrong values.
    package static func passcode(at handle: TPMHandle, policy: [UInt8]) -> TPMIndexArea {
        TPMIndexArea(
            handle: handle, attributes: [.countsFailures, .policyWrites, .policyReads, .withoutLockout],
            policy: policy, size: 8)
    }

    /// Whether this is that area, before or after its first write, which sets an attribute.
    package func isSame(as other: TPMIndexArea) -> Bool {
        var (left, right) = (self, other)
        left.attributes.remove(.written)
        right.attributes.remove(.written)
        return left == right
    }

    package func encoded() throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(handle)
        writer.add(.sha256)
        writer.add(attributes.rawValue)
        try writer.add(sized: policy)
        writer.add(size)
        return writer.bytes
    }

    /// Decodes an area. Throws `TPMReader.malformed` unless its name is a SHA-256 digest.
    package init(decoding bytes: [UInt8]) throws(Failure) {
        var reader = TPMReader(bytes)
        handle = TPMHandle(try reader.uint32())
        try reader.expect(TPMAlgorithm.sha256.rawValue)
        attributes = TPMIndexAttributes(rawValue: try reader.uint32())
        policy = try reader.sized(limit: 64)
        size = try reader.uint16()
        try reader.checkEnd()
    }

    /// The name, which contains the attributes and so changes with the first write (Part 1, section 16).
    package func name() throws(Failure) -> [UInt8] { try TPMName.of(encoded()) }
}

/// A selection of platform configuration registers (PCRs) of the SHA-256 bank (`TPML_PCR_SELECTION`, Part 2, section
/// 10.9.7).
package struct TPMRegisters: Equatable, Sendable {
    package let encoded: [UInt8]

    /// PCR 7, which the firmware extends with the state and the keys of Secure Boot ("TCG PC Client Platform Firmware
    /// Profile", section 3.3.4.8). One selection; SHA-256; 3 bytes of bits, of which bit 7 is set.
    package static let secureBoot = TPMRegisters(encoded: [0, 0, 0, 1, 0x00, 0x0b, 3, 0x80, 0, 0])
}
