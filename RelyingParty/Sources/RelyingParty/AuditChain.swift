// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// The chain of hashes of the audit log.
enum AuditChain {
    static func hash(
        _ previous: [UInt8], _ number: Int64, _ time: Int64, _ event: String, _ user: String, _ key: [UInt8],
        _ detail: String
    ) throws -> [UInt8] {
        let fields = [Array(event.utf8), Array(user.utf8), key, Array(detail.utf8)].flatMap(ChallengeBinding.counted)
        let label = Array("latchkey audit 1\0".utf8)
        return try LibCrypto.sha256(label + previous + Challenge.number(number) + Challenge.number(time) + fields)
    }
}

extension RelyingPartyService {
    /// Verifies the chain of the audit log from its first row. Reads 500 rows at a time.
    ///
    /// - Returns: the number of rows, and the number of the first row that is missing or was changed, if any. Rows that
    ///   were removed at the end are not noticed.
    /// - Throws: ``RelyingPartyError/unavailable(_:)`` when the storage fails.
    public func verifyAudit() throws(RelyingPartyError) -> (count: Int64, firstWrong: Int64?) {
        try working {
            var count: Int64 = 0
            var previous = [UInt8](repeating: 0, count: 32)
            while true {
                let rows = try storage.read(Statements.audit, [.integer(count)])
                if rows.isEmpty { return (count, nil) }
                for row in rows {
                    guard row.count == 7, row[0] == .integer(count + 1), case .integer(let time) = row[1],
                        case .text(let event) = row[2], case .text(let user) = row[3], case .blob(let key) = row[4],
                        case .text(let detail) = row[5], case .blob(let hash) = row[6],
                        hash == (try AuditChain.hash(previous, count + 1, time, event, user, key, detail))
                    else { return (count, count + 1) }
                    (count, previous) = (count + 1, hash)
                }
            }
        }
    }
}
