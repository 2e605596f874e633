// SPDX-License-Identifier: Apache-2.0

internal import SignInVerification

// A counter that does not increase shows that two devices have the same key: one of them is a copy. The server cannot
// know which, so neither can use it any more until the operator has decided. ``CounterPolicy`` tells a copy from a request
// that arrived late.

extension RelyingPartyService {
    /// Lets a frozen key be used again, because the operator knows that there is no copy. Its counter is forgotten: the
    /// next one is accepted, whatever it is.
    ///
    /// - Parameters:
    ///   - key: the identifier of the key, 32 bytes.
    ///   - user: the user of the key.
    /// - Returns: whether the key was frozen.
    /// - Throws: `unavailable`.
    public func unfreeze(_ key: [UInt8], of user: String) throws(RelyingPartyError) -> Bool {
        try working {
            let now = now
            let isFrozen = try storage.transaction(of: user) { try $0.unfreeze(key, of: user, at: now) }
            if isFrozen { try record([.unfrozen(key)]) }
            return isFrozen
        }
    }

    /// Writes down that a key was frozen, and returns the error of the request that caused it.
    func frozen(_ key: [UInt8], at now: Int64) throws -> RelyingPartyError {
        try record([.frozen(key, now)])
        return .refused(.counterRegressed)
    }
}

extension SQLConnection {
    /// Returns whether the key was frozen.
    ///
    /// - Parameter actor: the administrator who asks for it, for the audit log; empty for the operator.
    func unfreeze(_ key: [UInt8], of user: String, _ actor: String = "", at now: Int64) throws -> Bool {
        _ = try run(Statements.unfreeze, [.text(user), .blob(key)])
        guard changedRowCount == 1 else { return false }
        try audit("unfreeze", user, key, actor, at: now)
        return true
    }

    /// Sets the counter of a key to a higher one, in the transaction of the proof that has it. Refuses a late request. Otherwise
    /// freezes the key and ends its sessions: the caller must commit, and refuse the proof. Call after the challenge was spent,
    /// so that a repeated request is a replay and freezes nothing.
    ///
    /// - Parameter record: the key as this transaction reads it.
    /// - Returns: whether the counter was accepted.
    func advance(
        _ record: KeyRecord, _ counter: ProofCounter, _ policy: CounterPolicy, at now: Int64
    ) throws -> Bool {
        let number: Int64? =
            switch counter {
            case .client(let number): number
            // An authenticator that always reports 0 does not count (WebAuthn Level 3, section 7.2).
            case .authenticator(let number, _): number == 0 && record.counter == nil ? nil : number
            }
        guard let number else {
            // A copy of the key could omit the counter. That proves no copy, so the key is not frozen.
            guard record.counter == nil else { throw RelyingPartyError.refused(.counterMissing) }
            try note(record, counter)
            return true
        }
        switch policy.decision(for: number, after: record.counter) {
        case .accept:
            _ = try run(Statements.advanceCounter, [.integer(number), .blob(record.identifier)])
            // The lock of the user keeps other transactions from this row.
            guard changedRowCount == 1 else { throw StorageFailure("A counter changed within a transaction.") }
            try note(record, counter)
            return true
        case .refuse: throw RelyingPartyError.refused(.counterLate)
        case .freeze:
            _ = try run(Statements.freeze, [.integer(now), .blob(record.identifier)])
            _ = try run(Statements.endSessionsOfKey, [.blob(record.identifier)])
            try audit("freeze", record.user, record.identifier, "counter \(number)", at: now)
            return false
        }
    }

    /// Stores that a passkey has left its authenticator, or is in it only again.
    private func note(_ record: KeyRecord, _ counter: ProofCounter) throws {
        guard case .authenticator(_, let backup) = counter, backup != record.passkey?.backup else { return }
        _ = try run(Statements.setSynced, [.integer(backup.rawValue), .blob(record.identifier)])
    }
}
