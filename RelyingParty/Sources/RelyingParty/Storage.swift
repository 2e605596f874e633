// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import Synchronization

/// A registered key as it is stored.
struct KeyRecord: Sendable {
    let user: String
    let device: String
    let point: [UInt8]
    let isRaw: Bool
    let tier: String
    let isRevoked: Bool
}

/// The database: transactions, one at a time. Every call blocks until the database has answered.
package final class Storage: @unchecked Sendable {
    // The connection is used inside `lock` only.
    private let connection: any SQLConnection
    private let lock = Mutex<Void>(())

    /// - Parameter connection: a connection whose tables exist; used by nothing else from now on.
    package init(_ connection: any SQLConnection) { self.connection = connection }

    /// Runs statements as one transaction: all of them are durable when this returns, or none when it throws.
    func transaction<Result: Sendable>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        try lock.withLock { _ in
            // IMMEDIATE: what is read in the transaction is still true when it writes.
            _ = try connection.run("BEGIN IMMEDIATE", [])
            do {
                let result = try body(connection)
                _ = try connection.run("COMMIT", [])
                return result
            } catch {
                // After a failed COMMIT there may be no transaction; nothing was committed in both cases.
                _ = try? connection.run("ROLLBACK", [])
                throw error
            }
        }
    }

    package func read(_ sql: String, _ values: [SQLValue]) throws -> [[SQLValue]] {
        try lock.withLock { _ in try connection.run(sql, values) }
    }

    func key(_ identifier: [UInt8]) throws -> KeyRecord? {
        try lock.withLock { _ in try connection.key(identifier) }
    }
}

extension SQLConnection {
    func key(_ identifier: [UInt8]) throws -> KeyRecord? {
        guard let row = try run(Statements.key, [.blob(identifier)]).first else { return nil }
        guard row.count == 6, case .text(let user) = row[0], case .text(let device) = row[1],
            case .blob(let point) = row[2], case .integer(let raw) = row[3], case .text(let tier) = row[4]
        else { throw StorageFailure("A row of the keys cannot be read.") }
        return KeyRecord(
            user: user, device: device, point: point, isRaw: raw != 0, tier: tier, isRevoked: row[5] != .null)
    }

    /// Stores a key that was proven, once: `keyExists` also for a key that was revoked.
    func insert(
        _ key: P256PublicKey, of user: String, device: String, isRaw: Bool, _ tier: DeclaredTier, at now: Int64
    ) throws {
        do throws(StorageFailure) {
            _ = try run(
                Statements.insertKey,
                [
                    .blob(key.identifier), .text(user), .text(device), .blob(key.point), .integer(isRaw ? 1 : 0),
                    .text(tier.rawValue), .integer(now),
                ])
        } catch  where error.isDuplicate {
            throw RelyingPartyError.refused(.keyExists)
        }
    }

    /// Spends a challenge, once: `replayed` for one that was spent, or whose table was dropped.
    func spend(_ challenge: Challenge) throws {
        let epoch = challenge.epoch
        guard case .integer(let dropped)? = try run(Statements.dropped, []).first?.first else {
            throw StorageFailure("The mark of the dropped epochs is missing.")
        }
        // A clock that was set back must not revive challenges whose nonces are gone.
        guard epoch > dropped else { throw RelyingPartyError.refused(.replayed) }
        if try run(Statements.epoch, [.integer(epoch)]).isEmpty {
            _ = try run(Statements.insertEpoch, [.integer(epoch)])
            _ = try run(SQLiteSchema.createSpent(epoch), [])
        }
        do throws(StorageFailure) {
            _ = try run(Statements.spend(epoch), [.blob(challenge.nonce)])
        } catch  where error.isDuplicate {
            throw RelyingPartyError.refused(.replayed)
        }
    }

    /// Appends a row to the audit log. Its hash covers the row and the hash of the one before.
    func audit(_ event: String, _ user: String, _ key: [UInt8], _ detail: String = "", at now: Int64) throws {
        var number: Int64 = 1
        var previous = [UInt8](repeating: 0, count: 32)
        if let row = try run(Statements.lastAudit, []).first {
            guard row.count == 2, case .integer(let last) = row[0], last < .max, case .blob(let hash) = row[1] else {
                throw StorageFailure("The last row of the audit log cannot be read.")
            }
            (number, previous) = (last + 1, hash)
        }
        let hash = try AuditChain.hash(previous, number, now, event, user, key, detail)
        _ = try run(
            Statements.insertAudit,
            [.integer(number), .integer(now), .text(event), .text(user), .blob(key), .text(detail), .blob(hash)])
    }
}
