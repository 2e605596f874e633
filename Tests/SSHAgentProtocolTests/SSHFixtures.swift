// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

@testable import SSHAgent

/// Writes messages as a program sends them, with a writer of its own.
enum SSHBytes {
    static func uint32(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    static func string(_ bytes: [UInt8]) -> [UInt8] { uint32(bytes.count) + bytes }

    static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

    static func number(_ magnitude: [UInt8]) -> [UInt8] {
        let short = Array(magnitude.drop { $0 == 0 })
        return string((short.first ?? 0) >= 0x80 ? [0] + short : short)
    }

    /// The data of a login.
    static func login(
        session: [UInt8], key: [UInt8], user: String = "ada", method: String = "publickey", host: [UInt8]? = nil,
        service: String = "ssh-connection", signs: UInt8 = 1, algorithm: String = "ecdsa-sha2-nistp256"
    ) -> [UInt8] {
        string(session) + [50] + string(user) + string(service) + string(method) + [signs] + string(algorithm)
            + string(key) + (host.map { string($0) } ?? [])
    }

    /// The data of a signed message.
    static func message(
        _ namespace: String, reserved: [UInt8] = [], algorithm: String = "sha512", digestBytes: Int = 64
    ) -> [UInt8] {
        Array("SSHSIG".utf8) + string(namespace) + string(reserved) + string(algorithm)
            + string([UInt8](repeating: 7, count: digestBytes))
    }
}

/// A server whose private key the test has.
struct TestHost {
    enum Kind: CaseIterable { case p256, p384, p521, rsaSHA256, rsaSHA512 }

    let kind: Kind
    private let key: PrivateKey
    let blob: [UInt8]

    init(_ kind: Kind) throws {
        self.kind = kind
        switch kind {
        case .p256: key = try .generate(.p256)
        case .p384: key = try .generate(.p384)
        case .p521: key = try .generate(.p521)
        case .rsaSHA256, .rsaSHA512: key = try .generateRSA(bitCount: 2048)
        }
        // The encoder of another module, which tests compare with ssh-keygen.
        let line = try PortablePublicKey(externalRepresentation: key.publicKey.externalRepresentation).openSSH()
        blob = try #require(Base64.standard.decode(line.split(separator: " ")[1].utf8))
    }

    /// The signature blob of a message.
    func sign(_ message: [UInt8]) throws -> [UInt8] {
        switch kind {
        case .rsaSHA256: return try rsa(message, .sha256, "rsa-sha2-256")
        case .rsaSHA512: return try rsa(message, .sha512, "rsa-sha2-512")
        case .p256: return try ecdsa(message, .sha256, "nistp256")
        case .p384: return try ecdsa(message, .sha384, "nistp384")
        case .p521: return try ecdsa(message, .sha512, "nistp521")
        }
    }

    /// A signature blob with the algorithm `name`, which need not fit.
    func rsa(_ message: [UInt8], _ digest: DigestAlgorithm, _ name: String) throws -> [UInt8] {
        SSHBytes.string(name)
            + SSHBytes.string(try key.signRSA(try digest.hash(message), .pkcs1Digest(digest)))
    }

    private func ecdsa(_ message: [UInt8], _ digest: DigestAlgorithm, _ curve: String) throws -> [UInt8] {
        let raw = try key.signECDSA(try digest.hash(message))
        let numbers = SSHBytes.number(Array(raw[..<(raw.count / 2)])) + SSHBytes.number(Array(raw[(raw.count / 2)...]))
        return SSHBytes.string("ecdsa-sha2-" + curve) + SSHBytes.string(numbers)
    }

    func bind(_ session: [UInt8], forwarding: Bool = false) throws -> SessionBind {
        SessionBind(hostKey: blob, sessionID: session, signature: try sign(session), isForwarding: forwarding)
    }
}

/// A key of ssh-keygen, its certificate, its fingerprint and a hashed name.
enum Published {
    static let key = "AAAAC3NzaC1lZDI1NTE5AAAAIBMKNcdcEqMs17Mt4dOGIPn9esD8rf/qBGTq5xt2xIdl"
    static let certificate =
        "AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIPmiEnuA3oGjRYCffwcgn7PztvQbVFZDSOPTQQv50JovAAAAIBMKNcdc"
        + "EqMs17Mt4dOGIPn9esD8rf/qBGTq5xt2xIdlAAAAAAAAAAAAAAACAAAAAmlkAAAADQAAAAlhLmV4YW1wbGUAAAAAAAAAAP//////////AAAA"
        + "AAAAAAAAAAAAAAAAMwAAAAtzc2gtZWQyNTUxOQAAACCOJdheWxp4eGQe73EZSWyNE0TxGurt0+4yPNFYt8bkAgAAAFMAAAALc3NoLWVkMjU1"
        + "MTkAAABALNt7tLKJKn7qW0CIlvG1IenIz+70chdkxBscWoqjsl0GxJoOIsP9Jnt5+d2SDDfUQ/KvYttgLpIr3NjEVJ3tCA=="
    static let fingerprint = "SHA256:ui9SsJTumSAlUF0Ia7pGBhwh0gJfgsB9twE51/wJaMo"
    static let hashedName = "|1|v70I1NRSmiC/Pxk5Rpx8SC51SB8=|BZL/p3pcQ24xFE6K2Cet/8/VyQ0="

    static func blob(_ text: String) throws -> [UInt8] { try #require(Base64.standard.decode(text.utf8)) }
}
