// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
import LatchkeyCrypto
package import LatchkeyModel

/// A key of the enclave that is marked for SSH.
package struct SSHKey: Sendable {
    /// The public key in the encoding of SSH.
    package var blob: [UInt8]
    package var name: String
    /// The persistent reference of the private key.
    package var reference: [UInt8]
}

/// A proof that the person gave for one key, which the daemon stores for this connection.
package struct SSHProof: Equatable, Sendable {
    let context: ContextHandle
}

/// Lists and uses keys. Calls block; they may be made from any thread.
package protocol SSHKeyStore: Sendable {
    /// The keys for SSH. Shows no prompt.
    func keys() throws(Failure) -> [SSHKey]
    /// Prepares a proof, which the next use fills.
    func makeProof() throws(Failure) -> SSHProof
    /// Signs a SHA-256 digest; shows a prompt unless the proof has been given. The result is r ‖ s, 64 bytes.
    ///
    /// - Parameter process: the program on whose terminal the prompt is shown, if it has one; nil for this process.
    func sign(
        _ digest: [UInt8], _ key: SSHKey, _ proof: SSHProof, reason: String, for process: ProcessName?
    ) throws(Failure) -> [UInt8]
    /// Revokes a proof and dismisses its prompt.
    func revoke(_ proof: SSHProof)
}

/// The keys in the daemon, which this process uses like every other program.
package struct DaemonKeyStore: SSHKeyStore {
    private let client: Client

    /// Creates a store that reaches the daemon with the first call.
    package init(
        _ client: Client = Client(ofDaemonFor: SSHKeyMark.application, groups: [SSHKeyMark.application], faceUsage: nil)
    ) {
        self.client = client
    }

    package func keys() throws(Failure) -> [SSHKey] {
        try client.call(Request.ListItems(SSHKeyMark.query)).compactMap(Self.key).sorted { $0.name < $1.name }
    }

    /// A key that a person must release: one without a protection would be usable by every program that reaches the
    /// socket, without a prompt.
    static func key(_ item: FoundItem) -> SSHKey? {
        guard let attributes = item.attributes, SSHKeyMark.isOn(attributes), attributes[.tokenID] != nil,
            attributes[.keyClass] == .number(KeyHalf.privateKey.rawValue), let accessControl = item.accessControl,
            !accessControl.plan.stages.isEmpty, !accessControl.constraints.contains(.applicationPassword),
            let reference = item.persistentReference, case .data(let point) = attributes[.publicKey],
            let publicKey = PublicKey(point, type: .ellipticCurve(.p256)), let blob = SSHKeyBlob.encode(publicKey),
            case .data(let tag)? = attributes[.applicationTag]?.compared
        else { return nil }
        return SSHKey(blob: blob, name: String(showing: tag), reference: reference)
    }

    package func makeProof() throws(Failure) -> SSHProof { SSHProof(context: try client.call(Request.CreateContext())) }

    package func sign(
        _ digest: [UInt8], _ key: SSHKey, _ proof: SSHProof, reason: String, for process: ProcessName?
    ) throws(Failure) -> [UInt8] {
        let request = Request.UseEnclaveKey(
            name: .stored(key.reference), operation: .sign(digest: digest),
            authentication: Authentication(context: proof.context, prompting: Prompting(reason: reason).clipped),
            for: process)
        let result = try client.call(request)
        guard result.count == 64 else { throw .unexpectedReply }
        return result.copyBytes()
    }

    package func revoke(_ proof: SSHProof) {
        // Fails only if the context or its connection is gone, and then the proof is, too.
        try? client.call(Request.InvalidateContext(proof.context))
    }
}

/// What distinguishes a key for SSH from every other key. It is given when the key is created and cannot be added or
/// removed later: the keychain changes only label, tag and group of an enclave key.
package enum SSHKeyMark {
    /// `kSecAttrApplicationLabel` of every key for SSH, instead of the hash of its public key.
    package static let applicationLabel = Array("latchkey.ssh".utf8)

    /// The name under which keys for SSH are created and used, and so their access group, in the tiers where a program
    /// names itself. Elsewhere the group is that of the program `latchkey`.
    package static let application = "latchkey.ssh"

    package static func isOn(_ attributes: Attributes) -> Bool {
        attributes[.applicationLabel]?.compared == .data(applicationLabel)
    }

    /// The query for every key for SSH.
    package static var query: ItemQuery {
        ItemQuery(itemClass: .key, attributes: [.applicationLabel: .data(applicationLabel)])
    }
}
