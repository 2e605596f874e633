// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

extension RelyingPartyService {
    /// What is revoked.
    public enum RevocationTarget: Equatable, Sendable {
        case key([UInt8])
        case device(String)
        case user

        /// The target as requests and the audit log have it: `user`, `device:NAME` or `key:IDENTIFIER`.
        var text: String {
            switch self {
            case .key(let key): "key:" + StrictBase64.url.encode(key)
            case .device(let name): "device:" + name
            case .user: "user"
            }
        }
    }

    /// Revokes keys, and ends their sessions in the same transaction, because a key of the user asks for it.
    ///
    /// - Parameters:
    ///   - target: what is revoked.
    ///   - context: the target as text, as the challenge and the signed message have it.
    ///   - proof: the signature of a challenge for `revoke`.
    package func revoke(
        _ target: RevocationTarget, context: String, _ proof: SignedProof
    ) throws(RelyingPartyError) -> Int {
        try working {
            let now = now
            let verified = try verify(proof, .revoke, context, at: now)
            let revoked: [[UInt8]]? = try storage.transaction(of: proof.user) { database in
                let record = try database.requireActive(verified.key)
                try database.spend(verified.challenge)
                // Clients of other keys count sign-ins and step-ups only.
                if record.form == .passkey {
                    guard try database.advance(record, verified.counter, policy.counters, at: now) else { return nil }
                }
                return try database.revoke(target, of: proof.user, by: proof.key, at: now)
            }
            guard let revoked else { throw try frozen(proof.key, at: now) }
            try record(revoked.map { .revoked($0) })
            return revoked.count
        }
    }

    /// Revokes keys, and ends their sessions in the same transaction, because the operator asks for it.
    ///
    /// - Parameters:
    ///   - target: what is revoked.
    ///   - user: the user whose keys are meant.
    /// - Returns: the number of revoked keys.
    /// - Throws: `unavailable`.
    public func revoke(_ target: RevocationTarget, of user: String) throws(RelyingPartyError) -> Int {
        try working {
            let now = now
            let revoked = try storage.transaction(of: user) { database in
                try database.revoke(target, of: user, by: [], at: now)
            }
            try record(revoked.map { .revoked($0) })
            return revoked.count
        }
    }
}

extension SQLConnection {
    /// Returns the identifiers of the keys that were revoked.
    ///
    /// - Parameters:
    ///   - key: the key that asks for it; empty for the operator.
    ///   - actor: the administrator who asks for it, for the audit log; empty for the user and the operator.
    func revoke(
        _ target: RelyingPartyService.RevocationTarget, of user: String, by key: [UInt8], _ actor: String = "",
        at now: Int64
    ) throws -> [[UInt8]] {
        let revoked = try keys(of: user).filter { record in
            switch target {
            case .key(let key): !record.isRevoked && record.identifier == key
            case .device(let name): !record.isRevoked && record.device.utf8.elementsEqual(name.utf8)
            case .user: !record.isRevoked
            }
        }.map(\.identifier)
        for key in revoked { _ = try run(Statements.revokeKey, [.integer(now), .text(user), .blob(key)]) }
        // A code that was given out before would bring the user's access back.
        if target == .user { _ = try run(Statements.dropCode, [.text(user)]) }
        _ = try run(Statements.endRevoked, [.text(user)])
        try audit("revoke", user, key, detail(actor, "\(target.text), \(revoked.count) keys"), at: now)
        return revoked
    }
}
