// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyCrypto
import LatchkeyDesktop
import LatchkeyModel
import SSHAgent

/// A key of the keychain as listed without a proof: a pair, named by its private half, or a public key alone.
struct NamedKey {
    let item: FoundItem
    /// The item of the public half, if there is one.
    private let publicItem: FoundItem?

    // MARK: - Finding

    /// The keys of that name; all keys if it is nil.
    static func all(named name: String?) throws(Failure) -> [NamedKey] {
        var items = try Client.command.items(query(name))
        // Where the group is that of the program, both connections find the same keys.
        let known = Set(items.compactMap(\.persistentReference))
        items += try Client.ssh.items(SSHKeyMark.query(named: name)).filter { item in
            item.persistentReference.map { !known.contains($0) } ?? false
        }
        let publicItems = items.filter { $0.half == .publicKey }
        let pairs = items.filter { $0.half == .privateKey }.map { item in
            NamedKey(item: item, publicItem: publicItems.first { $0.isOtherHalf(of: item) })
        }
        let alone = publicItems.filter { item in !pairs.contains { item.isOtherHalf(of: $0.item) } }
        return pairs + alone.map { NamedKey(item: $0, publicItem: $0) }
    }

    /// The only key of that name. Throws `itemNotFound` if there is none, `invalidParameter` if there are several.
    static func find(_ name: String) throws(Failure) -> NamedKey {
        let keys = try all(named: name)
        guard let key = keys.first else { throw missing(name) }
        guard keys.count == 1 else {
            throw Failure(
                .invalidParameter, "\(keys.count) keys have the name \(name).",
                hint: "Another program stored them; latchkey key delete \(name) deletes all of them.")
        }
        return key
    }

    static func missing(_ name: String) -> Failure {
        Failure(.itemNotFound, "There is no key \(name).", hint: "See: latchkey key list")
    }

    static func query(_ name: String?) -> ItemQuery {
        var query = ItemQuery(itemClass: .key)
        if let name { query.attributes[.applicationTag] = .data(Array(name.utf8)) }
        return query
    }

    // MARK: - Properties that need no proof

    var isPrivate: Bool { item.half == .privateKey }
    var isInEnclave: Bool { item.attributes?[.tokenID] != nil }
    var isForSSH: Bool { item.attributes.map(SSHKeyMark.isOn) ?? false }

    var name: String {
        switch item.attributes?[.applicationTag] {
        case .text(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? Hexadecimal.encode(bytes)
        default: ""
        }
    }

    var bitCount: Int64 { if case .number(let bits) = item.attributes?[.keySizeInBits] { bits } else { 0 } }

    var type: String {
        switch item.attributes?[.keyType] {
        case .number(KeyType.rsa.family.rawValue): "rsa"
        case .number(KeyType.ellipticCurve(.p256).family.rawValue): "p\(bitCount)"
        default: "other"
        }
    }

    // MARK: - Use

    /// The public half. Prompts only if the keychain has just a protected private half.
    func publicKey() throws(Failure) -> PublicKey {
        if isInEnclave { return try enclavePublicKey() }
        switch try stored(publicItem ?? item, reason: localized("show the public key of \(name)")) {
        case .publicKey(let key): return key
        case .privateKey(let key): return key.publicKey
        }
    }

    /// The private half, or a handle to it in the enclave. Opening a protected one prompts with `reason`.
    func privateHalf(reason: String) throws(Failure) -> PrivateHalf {
        guard isPrivate else {
            throw Failure(.invalidParameter, "\(name) is a public key: its private half is not in this keychain.")
        }
        // Otherwise a program could have a login signed without the rules of the agent, and a prompt that does not name
        // the host.
        guard !isForSSH else {
            throw Failure(
                .keyUsageNotAllowed, "\(name) is a key for ssh: only latchkey ssh-agent signs with it.",
                hint: "Make another key with: latchkey key create")
        }
        guard isInEnclave else {
            guard case .privateKey(let key) = try stored(item, reason: reason) else { throw unusable }
            return .software(key)
        }
        guard let reference = item.persistentReference else { throw unusable }
        return .enclave(.stored(reference), try enclavePublicKey(), reason: reason)
    }

    private func enclavePublicKey() throws(Failure) -> PublicKey {
        guard case .data(let point) = item.attributes?[.publicKey], let key = PublicKey(point: point) else {
            throw unusable
        }
        return key
    }

    private func stored(_ item: FoundItem, reason: String) throws(Failure) -> StoredKey {
        let copy = Request.CopyItems(
            query: ItemQuery(itemClass: .key, persistentReference: item.persistentReference), limit: .one,
            returns: [.data, .attributes], authentication: Authentication(prompting: Prompting(reason: reason).clipped))
        guard let found = try Client.command.call(copy).first,
            let attributes = found.attributes, let secret = found.secret, let key = StoredKey(attributes, secret)
        else { throw unusable }
        return key
    }

    /// The name of the key for a proof of where it is; throws for a key that cannot have one.
    func enclaveReference() throws(Failure) -> EnclaveKeyName {
        guard isPrivate, isInEnclave, let reference = item.persistentReference else {
            throw Failure(
                .invalidParameter, "\(name) is not a key of the enclave, and could be copied.",
                hint: "Make one with: latchkey key create --enclave")
        }
        // A key for ssh is shown to hosts only, so that none of them can be linked with a relying party.
        guard !isForSSH else {
            throw Failure(
                .keyUsageNotAllowed, "\(name) is a key for ssh, which is not shown to relying parties.",
                hint: "Make another key with: latchkey key create --enclave")
        }
        return .stored(reference)
    }

    private var unusable: Failure { Failure(.invalidParameter, "\(name) is not a key that this command can use.") }
}

/// A private key in this process, or a handle to one that stays in the enclave.
enum PrivateHalf {
    case software(PrivateKey)
    case enclave(EnclaveKeyName, PublicKey, reason: String)

    var publicKey: PublicKey {
        switch self {
        case .software(let key): key.publicKey
        case .enclave(_, let key, _): key
        }
    }

    /// ECDSA of a digest: r ‖ s.
    func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] {
        switch self {
        case .software(let key): try key.signECDSA(digest)
        // ECDSA with P-256 uses the leftmost 32 bytes of a digest.
        case .enclave: try use(.sign(digest: Array(digest.prefix(32))), byteCount: 64).copyBytes()
        }
    }

    /// The shared X coordinate with another key (ECDH).
    func agree(with peer: PublicKey) throws(Failure) -> SecretBytes {
        switch self {
        case .software(let key): try key.agree(with: peer)
        case .enclave: try use(.agree(point: peer.externalRepresentation), byteCount: 32)
        }
    }

    /// The key itself; throws for an enclave key. Only RSA operations call this, and enclave keys are keys of a curve.
    func software() throws(Failure) -> PrivateKey {
        guard case .software(let key) = self else {
            throw Failure(.exportNotAllowed, "A private key of the enclave never leaves it.")
        }
        return key
    }

    private func use(_ operation: EnclaveOperation, byteCount: Int) throws(Failure) -> SecretBytes {
        guard case .enclave(let name, _, let reason) = self else {
            throw Failure(.internalFailure, "The key is not in the enclave.")
        }
        let request = Request.UseEnclaveKey(
            name: name, operation: operation,
            authentication: Authentication(prompting: Prompting(reason: reason).clipped))
        let result = try Client.command.call(request)
        guard result.count == byteCount else { throw .unexpectedReply }
        return result
    }
}

extension FoundItem {
    fileprivate var half: KeyHalf? {
        if case .number(let number) = attributes?[.keyClass] { KeyHalf(rawValue: number) } else { nil }
    }

    /// Halves of a pair have the same hash (behaviour SK-09), and here the same name.
    fileprivate func isOtherHalf(of other: FoundItem) -> Bool {
        guard let label = attributes?[.applicationLabel], half != other.half else { return false }
        return label.compared == other.attributes?[.applicationLabel]?.compared
            && attributes?[.applicationTag]?.compared == other.attributes?[.applicationTag]?.compared
    }
}
