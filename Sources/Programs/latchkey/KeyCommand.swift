// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeyFormats
import LatchkeyClient
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySystem
import SSHAgent

/// key create, list, public, delete: keys of the command's own access group.
enum KeyCommand {
    // MARK: - Making

    static func create(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        let choice = try KeyChoice(options.key.type)
        guard !options.key.isForEnclave || choice == .p256 else {
            throw .usage("the enclave has no keys of type \(choice.rawValue)", "Use --type p256.")
        }
        // Without a protection, every program that reaches the agent's socket could log in as the user, unnoticed.
        guard !options.key.isForSSH || options.protection != "none" else {
            throw .usage("a key for ssh is not made without a protection", "Use presence, biometry or current-set.")
        }
        // A key of the enclave never leaves this device.
        let accessControl = try AccessControl(
            protection: options.protection ?? (options.key.isForSSH ? "presence" : nil),
            staysHere: options.has(.deviceOnly) || options.key.isForEnclave)
        try failing { () throws(Failure) in
            // While no passcode is set, the daemon refuses keys of the class that requires one, but would store keys
            // of other classes, which nothing could release.
            if accessControl.accessibility != .whenPasscodeSetThisDeviceOnly {
                try accessControl.checkIsPossible(Client.command.status())
            }
            guard try NamedKey.all(named: name).isEmpty else {
                throw Failure(
                    .duplicateItem, "A key \(name) exists already.",
                    hint: "Delete it first, with: latchkey key delete \(name)")
            }
            var attributes: Attributes = [.applicationTag: .data(Array(name.utf8))]
            if let label = options.label { attributes[.label] = .text(label) }
            let authentication = Authentication(prompting: Prompting(reason: localized("make the key \(name)")).clipped)
            if options.key.isForSSH {
                attributes[.applicationLabel] = .data(SSHKeyMark.applicationLabel)
                try createInEnclave(attributes, accessControl, authentication, Client.ssh)
            } else if options.key.isForEnclave {
                try createInEnclave(attributes, accessControl, authentication, Client.command)
            } else {
                try store(try choice.makeKey(), attributes, accessControl, authentication)
            }
            guard options.isJSON else {
                Output.writeDone(localized("The key \(name.withoutControls) is made."))
                return
            }
            let enclave = try enclaveKind()
            Output.write(try NamedKey.find(name).json(enclave).line + "\n")
        }
    }

    private static func createInEnclave(
        _ attributes: Attributes, _ accessControl: AccessControl, _ authentication: Authentication,
        _ daemon: DaemonConnection
    ) throws(Failure) {
        var accessControl = accessControl
        // A key without this flag cannot be used (Apple: `SecAccessControlCreateFlags.privateKeyUsage`).
        accessControl.constraints.insert(.privateKeyUsage)
        _ = try daemon.call(
            Request.CreateEnclaveKey(
                attributes: attributes, accessControl: accessControl, isPermanent: true, authentication: authentication)
        )
    }

    /// Stores both halves; the public one has no access control, so that reading it needs no proof.
    private static func store(
        _ key: PrivateKey, _ attributes: Attributes, _ accessControl: AccessControl, _ authentication: Authentication
    ) throws(Failure) {
        // The public half first: if storing the second one fails, no secret is left behind.
        let publicHalf = Request.AddItem(
            itemClass: .key, attributes: try key.publicKey.itemAttributes(.publicKey).merging(attributes),
            accessControl: AccessControl(), secret: SecretBytes(key.publicKey.externalRepresentation),
            returns: .persistentReference, authentication: Authentication())
        let added = try Client.command.call(publicHalf)
        let privateHalf = Request.AddItem(
            itemClass: .key, attributes: try key.publicKey.itemAttributes(.privateKey).merging(attributes),
            accessControl: accessControl, secret: key.externalRepresentation, returns: [],
            authentication: authentication)
        do throws(Failure) {
            _ = try Client.command.call(privateHalf)
        } catch {
            if let reference = added.first?.persistentReference {
                // If this fails too, the first failure is reported.
                try? Client.command.call(
                    Request.DeleteItems(ItemQuery(itemClass: .key, persistentReference: reference)))
            }
            throw error
        }
    }

    // MARK: - Showing

    static func list(_ options: Options) throws(CommandFailure) {
        try failing { () throws(Failure) in
            let keys = try NamedKey.all(named: nil)
            let enclave = keys.contains(where: \.isInEnclave) ? try enclaveKind() : nil
            if options.isJSON { return Output.write(JSON.array(keys.map { $0.json(enclave) }).line + "\n") }
            if keys.isEmpty {
                return Output.writeError(localized("No keys. Make one with: latchkey key create NAME\n"))
            }
            let rows = keys.map { $0.row(enclave) }.sorted { $0.lexicographicallyPrecedes($1) }
            Output.write(Table.text([heads] + rows))
        }
    }

    private static var heads: [String] {
        [
            localized("NAME"), localized("KIND"), localized("SIZE"), localized("WHERE"), localized("PROTECTION"),
            localized("LABEL"),
        ]
    }

    private static func enclaveKind() throws(Failure) -> EnclaveKind? {
        try Client.command.call(Request.Status()).enclave
    }

    static func writePublic(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        let format = try PublicFormat(options.key.format)
        let result = try KeyResult(options, isBinary: format.isBinary)
        try failing { () throws(Failure) in
            let key = try NamedKey.find(name).publicKey()
            let portable = try PortablePublicKey(of: key)
            let text = try format.bytes(portable, comment: name)
            guard options.isJSON else { return try result.write(SecretBytes(text)) }
            let value: JSON =
                switch format {
                case .jwk: .object(portable.jwk.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })
                case .pem, .ssh: .text(String(decoding: text, as: UTF8.self))
                case .der, .x963: .text(Base64.standard.encode(text))
                }
            result.writeJSON([("name", .text(name)), ("format", .text(format.rawValue)), ("key", value)])
        }
    }

    // MARK: - Deleting

    static func delete(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        let keys = try failing { () throws(Failure) in try NamedKey.all(named: name) }
        guard !keys.isEmpty else { throw .failure(NamedKey.missing(name)) }
        if !options.has(.yes) {
            let rows = keys.map { ["  " + $0.name, $0.kindAndPlace] }
            try Confirmation.ask(
                "delete",
                localized("What was encrypted for these keys cannot be read any more, and there is no undo:") + "\n"
                    + Table.text(rows))
        }
        try failing { () throws(Failure) in
            let isDeleted = try delete(NamedKey.query(name), Client.command)
            guard try delete(SSHKeyMark.query(named: name), Client.ssh) || isDeleted else {
                throw NamedKey.missing(name)
            }
        }
        Output.writeDeleted(name, localized("The key \(name.withoutControls) is deleted."), options)
    }
}

extension KeyCommand {
    /// Deletes the items; false if there is none.
    private static func delete(_ query: ItemQuery, _ daemon: DaemonConnection) throws(Failure) -> Bool {
        do throws(Failure) {
            try daemon.call(Request.DeleteItems(query))
            return true
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return false
        }
    }
}

/// The values of `--format`.
enum PublicFormat: String, CaseIterable {
    case pem, der, ssh, jwk, x963

    init(_ name: String?) throws(CommandFailure) {
        guard let format = PublicFormat(rawValue: name ?? "pem") else {
            throw .usage("unknown format \(name ?? "")", "Use pem, der, ssh, jwk or x963.")
        }
        self = format
    }

    var isBinary: Bool { self == .der || self == .x963 }

    func bytes(_ key: PortablePublicKey, comment: String) throws(Failure) -> [UInt8] {
        switch self {
        case .pem: return Array(key.pem.utf8)
        case .der: return key.der
        case .jwk: return Array((key.jwkText + "\n").utf8)
        case .x963:
            guard key.kind != .rsa else {
                throw Failure(.invalidParameter, "X9.63 encodes points of curves, and this is an RSA key.")
            }
            return key.externalRepresentation
        case .ssh:
            do throws(KeyFormatError) {
                return Array((try key.openSSH(comment: comment) + "\n").utf8)
            } catch {
                throw Failure(.invalidParameter, "\(error.message)")
            }
        }
    }
}

extension PortablePublicKey {
    fileprivate init(of key: PublicKey) throws(Failure) {
        do throws(KeyFormatError) {
            try self.init(externalRepresentation: key.externalRepresentation)
        } catch {
            throw Failure(.internalFailure, "\(error.message)")
        }
    }
}

extension NamedKey {
    private var label: String { if case .text(let text) = item.attributes?[.label] { text } else { "" } }

    private var group: String { if case .text(let text) = item.attributes?[.accessGroup] { text } else { "" } }

    private var protection: String { item.protection }

    /// Such as "p256, in the enclave".
    fileprivate var kindAndPlace: String {
        let kind = isPrivate ? type : localized("\(type) public")
        return isInEnclave ? localized("\(kind), in the enclave") : localized("\(kind), in the keychain")
    }

    fileprivate func row(_ enclave: EnclaveKind?) -> [String] {
        let place =
            isInEnclave
            ? localized("enclave (\(enclave?.name ?? localized("not here")))")
                + (isForSSH ? ", " + localized("for ssh") : "") : localized("keychain")
        return [name, isPrivate ? type : localized("\(type) public"), "\(bitCount)", place, protection, label]
    }

    fileprivate func json(_ enclave: EnclaveKind?) -> JSON {
        .object([
            ("name", .text(name)), ("type", .text(type)), ("bits", .number(bitCount)), ("private", .boolean(isPrivate)),
            ("where", .text(isInEnclave ? "enclave" : "keychain")),
            ("enclave", isInEnclave ? enclave.map { .text($0.name) } ?? .null : .null),
            ("ssh", .boolean(isForSSH)), ("protection", .text(protection)), ("label", .text(label)),
            ("group", .text(group)),
        ])
    }
}

/// The values of `--type`.
enum KeyChoice: String, CaseIterable {
    case p256, p384, p521, rsa2048, rsa3072, rsa4096

    /// All values, for help and hints.
    static let list = allCases.map(\.rawValue).joined(separator: ", ")

    init(_ name: String?) throws(CommandFailure) {
        guard let choice = KeyChoice(rawValue: name ?? "p256") else {
            throw .usage("unknown type \(name ?? "")", "Use \(KeyChoice.list).")
        }
        self = choice
    }

    /// Makes a random key. An RSA key takes seconds; on a terminal a line shows progress.
    func makeKey() throws(Failure) -> PrivateKey {
        switch self {
        case .p256: return try PrivateKey.generate(.p256)
        case .p384: return try PrivateKey.generate(.p384)
        case .p521: return try PrivateKey.generate(.p521)
        case .rsa2048: return try KeyChoice.makeRSAKey(2048)
        case .rsa3072: return try KeyChoice.makeRSAKey(3072)
        case .rsa4096: return try KeyChoice.makeRSAKey(4096)
        }
    }

    private static func makeRSAKey(_ bitCount: Int) throws(Failure) -> PrivateKey {
        guard StandardStream.error.isTerminal else { return try PrivateKey.generateRSA(bitCount: bitCount) }
        Output.writeError(localized("Searching for two primes") + " ")
        // Clears the line, also after a failure.
        defer { Output.control(.clearLine) }
        var next = Uptime.nanoseconds
        return try PrivateKey.generateRSA(bitCount: bitCount) {
            guard Uptime.nanoseconds >= next else { return true }
            next = Uptime.nanoseconds + 200_000_000
            Output.writeError(".")
            return true
        }
    }
}
