// SPDX-License-Identifier: Apache-2.0

/// A message violates the protocol. The error has no details, because the agent answers only `SSH_AGENT_FAILURE`.
package struct SSHFormatError: Error, Equatable, Sendable {
    package init() {}
}

/// Reads the data types of the SSH protocol (RFC 4251, section 5). Every length is checked against the remaining bytes.
struct SSHReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

    /// The next `count` bytes.
    mutating func take(_ count: Int) throws(SSHFormatError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw SSHFormatError() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func byte() throws(SSHFormatError) -> UInt8 {
        guard let byte = try take(1).first else { throw SSHFormatError() }
        return byte
    }

    mutating func uint32() throws(SSHFormatError) -> UInt32 { try take(4).reduce(0) { $0 << 8 | UInt32($1) } }

    mutating func string() throws(SSHFormatError) -> [UInt8] { Array(try take(Int(try uint32()))) }

    /// A `string` of valid UTF-8.
    mutating func text() throws(SSHFormatError) -> String {
        guard let text = String(validating: try string(), as: UTF8.self) else { throw SSHFormatError() }
        return text
    }

    /// The magnitude of a positive `mpint` in its shortest form, without a leading zero.
    mutating func number() throws(SSHFormatError) -> [UInt8] {
        let number = try string()
        guard let first = number.first, first < 0x80 else { throw SSHFormatError() }
        guard first == 0 else { return number }
        guard number.count > 1, number[1] >= 0x80 else { throw SSHFormatError() }
        return Array(number.dropFirst())
    }

    /// Throws if bytes follow.
    func end() throws(SSHFormatError) { guard rest.isEmpty else { throw SSHFormatError() } }
}

/// Writes the data types of the SSH protocol (RFC 4251, section 5).
struct SSHWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ byte: UInt8) { bytes.append(byte) }

    mutating func add(_ number: Int) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { bytes += $0 }
    }

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
