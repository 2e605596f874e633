// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The members of all requests; those that are nil are not sent.
struct RequestBody: Encodable, Sendable {
    struct PublicKey: Encodable, Sendable {
        let format: String
        let value: String
    }

    var user: String
    var key: String
    var purpose: String?
    var context: String?
    var challenge: String?
    var signature: String?
    var publicKey: PublicKey?
    var form: String?
    var tier: String?
    var device: String?
    var enrollmentCode: String?
    var newSignature: String?
    var target: String?

    func encoded() throws(SignInError) -> Data {
        do {
            return try JSONEncoder().encode(self)
        } catch {
            // All members are texts, which can be encoded.
            throw SignInError(.unexpectedReply)
        }
    }
}

// Replies. Members that are not read are ignored, so that a later server can add some.

struct ChallengeReply: Decodable, Sendable {
    let challenge: String
}

struct KeyReply: Decodable, Sendable {
    let key: String
}

struct SessionReply: Decodable, Sendable {
    let token: String
    /// Seconds since 1970.
    let expires: Int64
}

struct ApprovalReply: Decodable, Sendable {
    let user: String
    let key: String
    let context: String
}

struct BrowserCodeReply: Decodable, Sendable {
    let code: String
}

struct RevocationReply: Decodable, Sendable {
    let revokedKeys: Int
}
