// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys

extension PortablePublicKey {
    /// Reads the line of a public key of OpenSSH, as `ssh-keygen` writes it into files named `.pub`; see `openSSH`.
    ///
    /// - Throws: as `readOpenSSH`, which also gives the comment.
    public init(openSSH line: String) throws(KeyFormatError) { self = try Self.readOpenSSH(line).key }

    /// Reads the line of a public key of OpenSSH, and its comment.
    ///
    /// - Parameter line: `ssh-rsa` (RFC 4253, section 6.6) or `ecdsa-sha2-nistp256`, `...384`, `...521` (RFC 5656,
    ///   section 3.1), one space, the key in base64, and, perhaps, one space and a comment. One LF or CR LF may follow.
    ///   Options, as `authorized_keys` has them, are refused.
    /// - Returns: the key, and the comment or an empty string.
    /// - Throws: `unsupported` for a type of another name, `invalidKey`, `invalidComment`, `malformed`.
    public static func readOpenSSH(
        _ line: String
    ) throws(KeyFormatError) -> (key: PortablePublicKey, comment: String) {
        var bytes = Array(line.utf8)[...]
        if bytes.last == 0x0a {
            bytes = bytes.dropLast()
            if bytes.last == 0x0d { bytes = bytes.dropLast() }
        }
        let parts = bytes.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2 else { throw KeyFormatError(.malformed, "The line is no public key of OpenSSH.") }
        let name = String(decoding: parts[0], as: UTF8.self)
        guard let kind = Kind.openSSHNames.first(where: { $0.name == name })?.kind else {
            throw KeyFormatError(.unsupported, "The line does not begin with a type of key that is accepted.")
        }
        guard let blob = Base64.standard.decode(parts[1]), let key = Kind.read(blob, kind, name) else {
            throw KeyFormatError(.malformed, "The line holds no key of the type that it names.")
        }
        let comment = parts.count == 3 ? String(decoding: parts[2], as: UTF8.self) : ""
        guard parts.count == 2 || (!comment.isEmpty && Self.isOneLine(comment)) else {
            throw KeyFormatError(.invalidComment, "The comment is empty or does not stand on one line.")
        }
        return (try key.get(), comment)
    }

    /// The line of this key for OpenSSH, without an end of line: type, base64 and comment, joined by spaces.
    ///
    /// RSA: `ssh-rsa`, then exponent and modulus (RFC 4253, section 6.6). Curves: `ecdsa-sha2-nistp...`, then the name of
    /// the curve and the uncompressed point (RFC 5656, section 3.1).
    ///
    /// - Parameter comment: any text without control characters; empty: none.
    /// - Throws: `invalidComment`, since a comment of two lines would be a second key.
    public func openSSH(comment: String = "") throws(KeyFormatError) -> String {
        guard Self.isOneLine(comment) else {
            throw KeyFormatError(.invalidComment, "The comment does not stand on one line.")
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

    /// RFC 5656, section 10.1.
    fileprivate var openSSHCurve: String {
        switch self {
        case .rsa: ""
        case .p256: "nistp256"
        case .p384: "nistp384"
        case .p521: "nistp521"
        }
    }

    /// Reads what the base64 of a line holds; nil when it is not in form.
    fileprivate static func read(
        _ blob: [UInt8], _ kind: Self, _ name: String
    ) -> Result<PortablePublicKey, KeyFormatError>? {
        var rest = SSHBytes(blob)
        guard let inner = rest.next(), inner.elementsEqual(name.utf8) else { return nil }
        let invalid = KeyFormatError(.invalidKey, "The line holds the numbers of no key that is accepted.")
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

/// Strings and numbers of the SSH protocol (RFC 4251, section 5).
private struct SSHBytes {
    var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8] = []) { self.bytes = bytes[...] }

    mutating func append(_ string: [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: string.count).bigEndian) { bytes += $0 }
        bytes += string
    }

    /// An `mpint`: a leading zero keeps it from being negative.
    mutating func append(number: [UInt8]) {
        append((number.first ?? 0) >= 0x80 ? [0] + number : number)
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard bytes.count >= 4 else { return nil }
        let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(4)
        guard length <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(length) }
        return bytes.prefix(length)
    }

    /// A positive `mpint` in its shortest form, without the leading zero.
    mutating func nextNumber() -> ArraySlice<UInt8>? {
        guard let number = next(), let first = number.first, first < 0x80 else { return nil }
        guard first == 0 else { return number }
        guard let second = number.dropFirst().first, second >= 0x80 else { return nil }
        return number.dropFirst()
    }
}
