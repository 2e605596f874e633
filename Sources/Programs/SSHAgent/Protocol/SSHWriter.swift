// SPDX-License-Identifier: Apache-2.0

/// Writes the data types of the SSH protocol (RFC 4251, section 5).
struct SSHWriter {
    private(set) var bytes: [UInt8] = []

    /// A `byte`.
    mutating func add(_ byte: UInt8) { bytes.append(byte) }

    /// A `uint32`.
    mutating func add(_ number: Int) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { bytes += $0 }
    }

    /// A `string`.
    mutating func add(string: some Collection<UInt8>) {
        add(string.count)
        bytes += string
    }

    /// A positive `mpint`.
    ///
    /// - Parameter number: big-endian; leading zeros are removed, and one is added where the highest bit is set.
    mutating func add(number: some Collection<UInt8>) {
        let magnitude = Array(number.drop { $0 == 0 })
        add(string: (magnitude.first ?? 0) >= 0x80 ? [0] + magnitude : magnitude)
    }
}
