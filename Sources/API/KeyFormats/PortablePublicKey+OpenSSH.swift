// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto

extension PortablePublicKey {
    /// Reads an OpenSSH public key line, as in the `.pub` files of `ssh-keygen`, and discards its comment.
    ///
    /// Computes in this process; does not block or prompt. To get the comment too, use ``readOpenSSH(_:)``.
    ///
    /// - Parameter line: the line, in the format that ``readOpenSSH(_:)`` describes.
    /// - Throws: the errors of ``readOpenSSH(_:)``.
    public init(openSSH line: String) throws(KeyFormatError) { self = try Self.readOpenSSH(line).key }

    /// Reads an OpenSSH public key line and its comment.
    ///
    /// Computes in this process; does not block or prompt. Source: RFC 4253, section 6.6 (RSA); RFC 5656, section 3.1
    /// (ECDSA).
    ///
    /// - Parameter line: the key type (`ssh-rsa`, `ecdsa-sha2-nistp256`, `ecdsa-sha2-nistp384` or
    ///   `ecdsa-sha2-nistp521`), one space, the key in padded base64 and, optionally, one space and a comment. One LF
    ///   or CR LF may follow. Options, which lines of `authorized_keys` may begin with, are not accepted.
    /// - Returns: the key, and the comment or an empty string.
    /// - Throws: `unsupported` for another key type; `malformed` when the base64 or the key data inside is malformed
    ///   or of another type; `invalidKey` when the point is not on its curve or the RSA key is not accepted (see
    ///   ``PortablePublicKey``); `invalidComment` when the comment is empty or contains control
    ///   characters or line separators.
    public static func readOpenSSH(_ line: String) throws(KeyFormatError) -> (key: PortablePublicKey, comment: String) {
        var bytes = Array(line.utf8)[...]
        if bytes.last == 0x0a {
            bytes = bytes.dropLast()
            if bytes.last == 0x0d { bytes = bytes.dropLast() }
        }
        let parts = bytes.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2 else { throw KeyFormatError(.malformed, "The line is not an OpenSSH public key.") }
        let name = String(decoding: parts[0], as: UTF8.self)
        guard let kind = Kind.openSSHNames.first(where: { $0.name == name })?.kind else {
            throw KeyFormatError(.unsupported, "The line does not begin with a supported key type.")
        }
        guard let blob = Base64.standard.decode(parts[1]), let key = Kind.read(blob, kind, name) else {
            throw KeyFormatError(.malformed, "The key data of the line is malformed or of another type.")
        }
        let comment = parts.count == 3 ? String(decoding: parts[2], as: UTF8.self) : ""
        guard parts.count == 2 || (!comment.isEmpty && Self.isOneLine(comment)) else {
            throw KeyFormatError(.invalidComment, "The comment is empty or is not one printable line.")
        }
        return (try key.get(), comment)
    }

    /// Formats this key as an OpenSSH public key line, without a line break at its end.
    ///
    /// Computes in this process; does not block or prompt. Source: RFC 4253, section 6.6 (RSA); RFC 5656, section 3.1
    /// (ECDSA).
    ///
    /// - Parameter comment: text to append, without control characters and line separators; empty for no comment.
    /// - Returns: the key type, the key in padded base64 and the comment, separated by single spaces. The base64
    ///   contains the type again, then exponent and modulus, or the curve name and the uncompressed point.
    /// - Throws: `invalidComment` when the comment contains control characters or line separators. A line break in it
    ///   would let the rest of the comment be read as a second key.
    public func openSSH(comment: String = "") throws(KeyFormatError) -> String {
        guard Self.isOneLine(comment) else {
            throw KeyFormatError(.invalidComment, "The comment is not one printable line.")
        }
        let line = kind.openSSHName + " " + Base64.standard.encode(openSSHBlob)
        return comment.isEmpty ? line : line + " " + comment
    }

    private static func isOneLine(_ comment: String) -> Bool {
        comment.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }

    private var openSSHBlob: [UInt8] {
        var blob = SSHBytes()
        blob.append(Array(kind.openSSHName.utf8))
        if let numbers = key.rsaNumbers {
            blob.append(number: numbers.exponent)
            blob.append(number: numbers.modulus)
        } else {
            blob.append(Array(kind.openSSHCurve.utf8))
            blob.append(externalRepresentation)
        }
        return Array(blob.bytes)
    }
}

extension PortablePublicKey.Kind {
    fileprivate static let openSSHNames: [(name: String, kind: Self)] = [
        (Self.rsa.openSSHName, .rsa), (Self.p256.openSSHName, .p256), (Self.p384.openSSHName, .p384),
        (Self.p521.openSSHName, .p521),
    ]

    fileprivate var openSSHName: String { self == .rsa ? "ssh-rsa" : "ecdsa-sha2-" + openSSHCurve }

    /// The curve identifier (RFC 5656, section 10.1); empty for RSA.
    fileprivate var openSSHCurve: String {
        switch self {
        case .rsa: ""
        case .p256: "nistp256"
        case .p384: "nistp384"
        case .p521: "nistp521"
        }
    }

    /// Reads the decoded key data of a line: nil when it is malformed, `invalidKey` when the key in it is not accepted.
    fileprivate static func read(
        _ blob: [UInt8], _ kind: Self, _ name: String
    ) -> Result<PortablePublicKey, KeyFormatError>? {
        var rest = SSHBytes(blob)
        guard let inner = rest.next(), inner.elementsEqual(name.utf8) else { return nil }
        let invalid = KeyFormatError(.invalidKey, "The point is not on its curve, or the RSA key is not accepted.")
        guard kind != .rsa else {
            guard let exponent = rest.nextNumber(), let modulus = rest.nextNumber(), rest.bytes.isEmpty else {
                return nil
            }
            return PublicKey(modulus: modulus, exponent: exponent).map { .success(PortablePublicKey($0)) }
                ?? .failure(invalid)
        }
        guard let curve = rest.next(), curve.elementsEqual(kind.openSSHCurve.utf8), let point = rest.next(),
            rest.bytes.isEmpty
        else { return nil }
        guard let key = PublicKey(point: Array(point)), PortablePublicKey(key).kind == kind else {
            return .failure(invalid)
        }
        return .success(PortablePublicKey(key))
    }
}

/// Reads and writes the data types `string` and `mpint` of the SSH protocol (RFC 4251, section 5).
private struct SSHBytes {
    var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8] = []) { self.bytes = bytes[...] }

    mutating func append(_ string: [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: string.count).bigEndian) { bytes += $0 }
        bytes += string
    }

    /// Appends a positive `mpint`, with a leading zero byte when the highest bit is set.
    mutating func append(number: [UInt8]) { append((number.first ?? 0) >= 0x80 ? [0] + number : number) }

    /// Reads a `string`; nil when the bytes end before it does.
    mutating func next() -> ArraySlice<UInt8>? {
        guard bytes.count >= 4 else { return nil }
        let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(4)
        guard length <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(length) }
        return bytes.prefix(length)
    }

    /// Reads a positive `mpint` and returns its magnitude without a leading zero; nil when it is not in its shortest
    /// form.
    mutating func nextNumber() -> ArraySlice<UInt8>? {
        guard let number = next(), let first = number.first, first < 0x80 else { return nil }
        guard first == 0 else { return number }
        guard let second = number.dropFirst().first, second >= 0x80 else { return nil }
        return number.dropFirst()
    }
}
