// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Builds the big-endian structures of commands (TPM 2.0 Library, Part 2, section 4).
package struct TPMWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func add(_ value: UInt8) { bytes.append(value) }

    package mutating func add(_ value: UInt16) { addBigEndian(value) }

    package mutating func add(_ value: UInt32) { addBigEndian(value) }

    package mutating func add(_ value: Int32) { addBigEndian(UInt32(bitPattern: value)) }

    package mutating func add(_ value: TPMAlgorithm) { add(value.rawValue) }

    package mutating func add(_ value: TPMHandle) { add(value.number) }

    /// Appends bytes without a length.
    package mutating func add(_ value: some Sequence<UInt8>) { bytes.append(contentsOf: value) }

    /// Appends a sized buffer (`TPM2B`): two bytes of length and the bytes.
    package mutating func add(sized value: [UInt8]) throws(Failure) {
        guard let count = UInt16(exactly: value.count) else {
            throw Failure(.internalFailure, "A buffer of a TPM command has \(value.count) bytes.")
        }
        add(count)
        add(value)
    }

    private mutating func addBigEndian(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// Reads the big-endian structures of responses. Every length is checked: the device, or what a driver of it passes on,
/// is not trusted.
package struct TPMReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: some Collection<UInt8>) {
        self.bytes = ArraySlice(Array(bytes))
        position = 0
    }

    /// The failure for a response that does not conform to the specification.
    package static let malformed = Failure(
        .vaultUnavailable, "The TPM sent a response that does not follow its specification.",
        hint: "See: latchkey doctor")

    package var isAtEnd: Bool { position == bytes.count }

    /// Throws unless everything was read.
    package func checkEnd() throws(Failure) { guard isAtEnd else { throw Self.malformed } }

    /// Reads that number of bytes.
    package mutating func bytes(_ count: Int) throws(Failure) -> [UInt8] {
        guard count >= 0, count <= bytes.count - position else { throw Self.malformed }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    package mutating func uint8() throws(Failure) -> UInt8 { try number() }

    package mutating func uint16() throws(Failure) -> UInt16 { try number() }

    package mutating func uint32() throws(Failure) -> UInt32 { try number() }

    /// Reads a sized buffer (`TPM2B`) of at most `limit` bytes.
    package mutating func sized(limit: Int) throws(Failure) -> [UInt8] {
        let count = Int(try uint16())
        guard count <= limit else { throw Self.malformed }
        return try bytes(count)
    }

    /// Reads a number and throws unless it is the expected one.
    package mutating func expect<N: FixedWidthInteger & UnsignedInteger>(_ expected: N) throws(Failure) {
        guard try number() as N == expected else { throw Self.malformed }
    }

    private mutating func number<N: FixedWidthInteger & UnsignedInteger>() throws(Failure) -> N {
        try bytes(N.bitWidth / 8).reduce(0) { $0 << 8 | N($1) }
    }
}
