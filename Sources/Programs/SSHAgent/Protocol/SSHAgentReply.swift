// SPDX-License-Identifier: Apache-2.0

package import LatchkeyCrypto

/// A message that the agent sends (RFC 9987).
package enum SSHAgentReply: Equatable, Sendable {
    /// A key as it is listed: its blob and its name.
    package struct Identity: Equatable, Sendable {
        /// The public key in the encoding of RFC 5656, section 3.1.
        package var blob: [UInt8]
        /// The name of the key.
        package var comment: String
    }

    /// `SSH_AGENT_SUCCESS`.
    case success
    /// `SSH_AGENT_FAILURE`, also for an extension that the agent does not know.
    case failure
    /// `SSH_AGENT_EXTENSION_FAILURE`: a known extension failed.
    case extensionFailure
    /// `SSH_AGENT_EXTENSION_RESPONSE` to `query`: the names of the extensions.
    case extensions([[UInt8]])
    /// `SSH_AGENT_IDENTITIES_ANSWER`.
    case identities([Identity])
    /// `SSH_AGENT_SIGN_RESPONSE` with a signature blob.
    case signature([UInt8])

    package func encoded() -> [UInt8] {
        var body = SSHWriter()
        switch self {
        case .success: body.add(6 as UInt8)
        case .failure: body.add(5 as UInt8)
        case .extensionFailure: body.add(28 as UInt8)
        case .extensions(let names):
            body.add(29 as UInt8)
            for name in [SSHAgentRequest.queryName] + names { body.add(string: name) }
        case .identities(let identities):
            body.add(12 as UInt8)
            body.add(identities.count)
            for identity in identities {
                body.add(string: identity.blob)
                body.add(string: Array(identity.comment.utf8))
            }
        case .signature(let signature):
            body.add(14 as UInt8)
            body.add(string: signature)
        }
        var frame = SSHWriter()
        frame.add(string: body.bytes)
        return frame.bytes
    }
}

/// The encodings of a P-256 key and of its signatures (RFC 5656, section 3.1).
package enum SSHKeyBlob {
    /// The algorithm of every key of this agent.
    package static let algorithm = "ecdsa-sha2-nistp256"

    /// The blob of a public key; nil for a key of another type.
    package static func encode(_ key: PublicKey) -> [UInt8]? {
        guard key.type == .ellipticCurve(.p256) else { return nil }
        var blob = SSHWriter()
        blob.add(string: Array(algorithm.utf8))
        blob.add(string: Array("nistp256".utf8))
        blob.add(string: key.externalRepresentation)
        return blob.bytes
    }

    /// The blob of a signature r ‖ s, each 32 bytes; nil for another length.
    package static func signature(raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64 else { return nil }
        var numbers = SSHWriter()
        numbers.add(number: raw[..<32])
        numbers.add(number: raw[32...])
        var blob = SSHWriter()
        blob.add(string: Array(algorithm.utf8))
        blob.add(string: numbers.bytes)
        return blob.bytes
    }
}
