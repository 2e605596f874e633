// SPDX-License-Identifier: Apache-2.0

import CBenchOpenSSL
import Foundation
import Security

/// A software TPM of its own, with a key that signs for a password and one that signs after an approval: the same
/// commands that Latchkey sends, without sessions that protect them, without a daemon and without a store.
final class TPMFloor {
    private let descriptor: CInt
    /// The key of the approvals; nil if none are made.
    private let authority: SecKey?
    private var plain: UInt32 = 0
    private var approved: UInt32 = 0
    private var approvedName: [UInt8] = []
    private var authorityHandle: UInt32 = 0
    private var session: UInt32 = 0
    private var nonce: [UInt8] = []
    private static let reference = [UInt8](repeating: 7, count: 32)
    private static let digest = [UInt8](repeating: 7, count: 32)

    /// Connects to the TPM at a socket and makes the keys.
    init(_ path: String) throws(BenchFailure) {
        descriptor = try TPMProcess.connect(path)
        let parameters: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
        ]
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, nil),
            let half = SecKeyCopyPublicKey(key), let point = SecKeyCopyExternalRepresentation(half, nil) as Data?
        else { throw BenchFailure("No key for approvals.") }
        authority = key
        // The memory of a TPM has room for three objects.
        let root = try makeRoot()
        plain = try makeKey(Self.area(0x0006_0472), below: root).0
        let area = Self.area(0x0004_0040, point: Array(point))
        let step = Self.hash([UInt8](repeating: 0, count: 32) + Self.bytes(0x160 as UInt32) + Self.name(area))
        let policy = Self.hash(step + Self.reference)
        (approved, approvedName) = try makeKey(Self.area(0x0006_04b2, policy: policy), below: root)
        try flush(root)
        authorityHandle = Self.word(
            try send(0x167, [], Self.sized([]) + Self.sized(area) + Self.bytes(0x4000_0001 as UInt32)), 0)
        (session, nonce) = try startPolicy()
    }

    /// Connects to the TPM at a socket and makes nothing.
    private init(connectedTo path: String) throws(BenchFailure) {
        descriptor = try TPMProcess.connect(path)
        authority = nil
    }

    /// The number of handles of a kind that a TPM holds (`TPM2_GetCapability`, at most 254).
    static func handles(_ kind: UInt32, at path: String) throws(BenchFailure) -> UInt32 {
        let question = bytes(1 as UInt32) + bytes(kind << 24) + bytes(254 as UInt32)
        let answer = try TPMFloor(connectedTo: path).send(0x17a, [], question)
        guard answer.count >= 9 else { throw BenchFailure("The TPM did not list its handles.") }
        return word(answer, 5)
    }

    /// Starts a policy session; returns its handle and the nonce of the TPM.
    func startPolicy() throws(BenchFailure) -> (handle: UInt32, nonce: [UInt8]) {
        let started = try send(
            0x176, [0x4000_0007, 0x4000_0007],
            Self.sized([UInt8](repeating: 1, count: 16)) + Self.sized([]) + [1] + Self.bytes(0x0010_000b as UInt32))
        return (Self.word(started, 0), Array(started[6..<22]))
    }

    deinit { close(descriptor) }

    static let signing: [UInt8] =
        sized(digest) + bytes(0x0018_000b as UInt32) + bytes(0x8024 as UInt16) + bytes(0x4000_0007 as UInt32) + [0, 0]

    /// One signature for the empty password.
    func signPlain(_ samples: inout Samples) throws(BenchFailure) {
        let key = plain
        _ = try samples.time { () throws(BenchFailure) in try send(0x15d, [key], Self.signing, auth: Self.password) }
    }

    /// One signature after an approval; the approval is part of the time.
    func signApproved(_ samples: inout Samples) throws(BenchFailure) {
        let response = try samples.time { () throws(BenchFailure) -> [UInt8] in
            let command = Self.hash(Self.bytes(0x15d as UInt32) + approvedName + Self.signing)
            let expiry = Self.bytes(60 as UInt32)
            let text = Data(nonce + expiry + command + Self.reference) as CFData
            guard let authority,
                let signature = SecKeyCreateSignature(authority, .ecdsaSignatureMessageX962SHA256, text, nil) as Data?,
                let (r, s) = Self.parts(Array(signature))
            else { throw BenchFailure("No approval.") }
            let parameters =
                Self.sized(nonce) + Self.sized(command) + Self.sized(Self.reference) + expiry
                + Self.bytes(0x0018_000b as UInt32) + Self.sized(r) + Self.sized(s)
            _ = try send(0x160, [authorityHandle, session], parameters)
            return try send(0x15d, [approved], Self.signing, auth: session)
        }
        // The last 2 + 32 + 1 + 2 bytes are the nonce, the attributes and the empty code of the session.
        nonce = Array(response.suffix(19).prefix(16))
        if response.count < 80 { throw BenchFailure("The TPM sent no signature.") }
    }

    // MARK: - Commands

    static let password: UInt32 = 0x4000_0009

    private func makeRoot() throws(BenchFailure) -> UInt32 {
        let template = Self.creation(Self.area(0x0003_0472, isStorage: true))
        return Self.word(try send(0x131, [0x4000_0001], template, auth: Self.password), 0)
    }

    private func flush(_ object: UInt32) throws(BenchFailure) { _ = try send(0x165, [], Self.bytes(object)) }

    /// Makes a key with this policy in place of those that an approval uses, for which no approval is made any more.
    func makeKey(policy: [UInt8]) throws(BenchFailure) -> UInt32 {
        for object in [plain, approved, authorityHandle] { try flush(object) }
        let root = try makeRoot()
        let (key, _) = try makeKey(Self.area(0x0006_04b2, policy: policy), below: root)
        try flush(root)
        return key
    }

    /// Creates and loads a key; returns its handle and its name.
    private func makeKey(_ template: [UInt8], below root: UInt32) throws(BenchFailure) -> (UInt32, [UInt8]) {
        let made = try send(0x153, [root], Self.creation(template), auth: Self.password)
        let secret = 4..<(6 + Int(made[4]) << 8 + Int(made[5]))
        let start = secret.upperBound
        let area = start..<(start + 2 + Int(made[start]) << 8 + Int(made[start + 1]))
        let loaded = try send(0x157, [root], Array(made[secret]) + Array(made[area]), auth: Self.password)
        return (Self.word(loaded, 0), Self.name(Array(made[area].dropFirst(2))))
    }

    /// Sends a command; returns the response behind its header.
    func send(
        _ command: UInt32, _ handles: [UInt32], _ parameters: [UInt8], auth: UInt32? = nil, value: [UInt8] = []
    ) throws(BenchFailure) -> [UInt8] {
        var body = handles.flatMap { Self.bytes($0) }
        if let auth {
            body += Self.bytes(UInt32(9 + value.count)) + Self.bytes(auth) + [0, 0, 1] + Self.sized(value)
        }
        body += parameters
        let tag: UInt16 = auth == nil ? 0x8001 : 0x8002
        let frame = Self.bytes(tag) + Self.bytes(UInt32(10 + body.count)) + Self.bytes(command) + body
        guard Glibc.send(descriptor, frame, frame.count, CInt(MSG_NOSIGNAL)) == frame.count else {
            throw .system("send")
        }
        var response = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &response, response.count)
        guard count >= 10 else { throw BenchFailure("The TPM of the floor has ended.") }
        let code = Self.word(response, 6)
        guard code == 0 else {
            throw BenchFailure("The TPM refused command \(String(command, radix: 16)): \(String(code, radix: 16)).")
        }
        return Array(response[10..<count])
    }

    // MARK: - Structures

    static func bytes<N: FixedWidthInteger>(_ number: N) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    static func sized(_ bytes: [UInt8]) -> [UInt8] { self.bytes(UInt16(bytes.count)) + bytes }

    private static func word(_ bytes: [UInt8], _ position: Int) -> UInt32 {
        bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The public area of a P-256 key.
    private static func area(
        _ attributes: UInt32, policy: [UInt8] = [], isStorage: Bool = false, point: [UInt8] = []
    ) -> [UInt8] {
        let scheme: [UInt8] = isStorage ? [0, 6, 0, 128, 0, 0x43] : [0, 0x10]
        let coordinates =
            point.isEmpty ? sized([]) + sized([]) : sized(Array(point[1..<33])) + sized(Array(point[33...]))
        return [0, 0x23, 0, 0x0b] + bytes(attributes) + sized(policy) + scheme + [0, 0x10, 0, 3, 0, 0x10] + coordinates
    }

    private static func creation(_ template: [UInt8]) -> [UInt8] {
        sized([0, 0, 0, 0]) + sized(template) + sized([]) + bytes(0 as UInt32)
    }

    static func name(_ area: [UInt8]) -> [UInt8] { [0, 0x0b] + hash(area) }

    static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        return digest
    }

    /// r and s of a signature in DER, 32 bytes each.
    private static func parts(_ der: [UInt8]) -> ([UInt8], [UInt8])? {
        var numbers: [[UInt8]] = []
        var position = 2
        while position + 2 < der.count, der[position] == 2 {
            let end = position + 2 + Int(der[position + 1])
            guard end <= der.count else { return nil }
            let number = der[(position + 2)..<end].drop { $0 == 0 }
            numbers.append([UInt8](repeating: 0, count: max(0, 32 - number.count)) + number)
            position = end
        }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }
}
