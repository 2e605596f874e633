// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import SignInVerification

/// A row of the audit log, without its hash.
struct AuditRow {
    let node: String
    let number: Int64
    let time: Int64
    let event: String
    let user: String
    let key: [UInt8]
    let detail: String

    /// The hash of this row and of the one before in the chain of the node; 32 zero bytes are before the first one.
    ///
    /// The chain of the node without a name has the hashes of the first version, so that logs stay verifiable. The label
    /// of all others differs, and a name has one length, so no row of one node is valid in the chain of another.
    func hash(after previous: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        let fields = [Array(event.utf8), Array(user.utf8), key, Array(detail.utf8)].flatMap(ChallengeBinding.counted)
        let label =
            node.isEmpty
            ? Array("latchkey audit 1\0".utf8)
            : Array("latchkey audit 2\0".utf8) + ChallengeBinding.counted(Array(node.utf8))
        return try LibCrypto.sha256(label + previous + Challenge.number(number) + Challenge.number(time) + fields)
    }
}

/// The last row of a chain: number 0 and 32 zero bytes for an empty one.
struct AuditHead {
    var number: Int64 = 0
    var hash = [UInt8](repeating: 0, count: 32)
    /// When the row was written, in seconds since 1970.
    var time: Int64 = 0
}

/// A place in the audit log.
public struct AuditPosition: Equatable, Sendable {
    /// The node whose chain it is; empty for a server with a database of its own.
    public let node: String
    /// The number of the row, from 1.
    public let number: Int64
}

extension SQLConnection {
    func head(of node: String) throws -> AuditHead {
        guard let row = try run(Statements.lastAudit, [.text(node)]).first else { return AuditHead() }
        guard row.count == 3, case .integer(let number) = row[0], case .blob(let hash) = row[1],
            case .integer(let time) = row[2]
        else { throw StorageFailure("The last row of the audit log cannot be read.") }
        return AuditHead(number: number, hash: hash, time: time)
    }

    /// Copies the heads of the chains of all other nodes into the chain of this node, once an hour. An attacker who cuts the
    /// end of one chain would have to compute the others anew.
    func copyHeads(at now: Int64) throws {
        // Several processes may work for one node; only one of them copies the heads of an hour.
        try lock(.audit)
        let nodes = try auditNodes()
        let (hour, copied) = (now / 3600, nodes.first { $0.name == node }?.copied ?? 0)
        // A node without rows has no chain yet.
        guard hour > copied, nodes.contains(where: { $0.name == node }) else { return }
        for other in nodes where other.name != node {
            let head = try head(of: other.name)
            // A chain that has not grown since its head was copied.
            guard head.time >= (copied - 1) * 3600 else { continue }
            try audit("head", "", head.hash, "\(head.number) \(other.name)", at: now)
        }
        _ = try run(Statements.setCopied, [.integer(hour), .text(node)])
    }

    fileprivate func auditNodes() throws -> [(name: String, copied: Int64)] {
        try run(Statements.nodes, []).map { row throws in
            guard row.count == 2, case .text(let name) = row[0], case .integer(let copied) = row[1] else {
                throw StorageFailure("A row of the nodes cannot be read.")
            }
            return (name, copied)
        }
    }
}

/// Verification of the audit log.
package enum AuditVerification {
    /// Verifies the chains of all nodes from their first rows, and the heads that the nodes copied from each other. Reads 500
    /// rows at a time.
    ///
    /// - Returns: the number of rows that were verified, and the first one that is missing or was changed, if any.
    package static func verify(_ storage: Storage) throws -> (count: Int64, firstWrong: AuditPosition?) {
        var total: Int64 = 0
        let listed = try storage.read(Statements.nodes, []).compactMap(\.first)
        // A chain whose node is not in the list is verified as well, and one without rows is noticed by its list.
        let found = try storage.read(Statements.auditNodes, []).compactMap(\.first)
        for name in listed + found.filter({ !listed.contains($0) }) {
            guard case .text(let node) = name else { throw StorageFailure("A node cannot be read.") }
            guard found.contains(name) else { return (total, AuditPosition(node: node, number: 1)) }
            let (count, wrong) = try verifyChain(of: node, storage)
            total += count
            if let wrong { return (total, wrong) }
        }
        return (total, nil)
    }

    private static func verifyChain(of node: String, _ storage: Storage) throws -> (Int64, AuditPosition?) {
        var (count, previous): (Int64, [UInt8]) = (0, [UInt8](repeating: 0, count: 32))
        while true {
            let rows = try storage.read(Statements.audit, [.text(node), .integer(count)])
            if rows.isEmpty { return (count, nil) }
            for values in rows {
                guard values.count == 7, values[0] == .integer(count + 1), case .integer(let time) = values[1],
                    case .text(let event) = values[2], case .text(let user) = values[3],
                    case .blob(let key) = values[4],
                    case .text(let detail) = values[5], case .blob(let hash) = values[6],
                    case let row = AuditRow(
                        node: node, number: count + 1, time: time, event: event, user: user, key: key, detail: detail),
                    hash == (try row.hash(after: previous))
                else { return (count, AuditPosition(node: node, number: count + 1)) }
                if event == "head", let wrong = try missingHead(detail, key, storage) { return (count, wrong) }
                (count, previous) = (count + 1, hash)
            }
        }
    }

    /// The row of another chain whose hash a node copied, if it is not there any more.
    private static func missingHead(_ detail: String, _ hash: [UInt8], _ storage: Storage) throws -> AuditPosition? {
        // Bytes and not characters: a space and a combining mark after it are one character.
        let parts = detail.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int64(Substring(parts[0])), let name = String(parts[1]) else {
            throw StorageFailure("The head of another node in the audit log cannot be read.")
        }
        let stored = try storage.read(Statements.auditHash, [.text(name), .integer(number)])
        return stored == [[.blob(hash)]] ? nil : AuditPosition(node: name, number: number)
    }
}

extension RelyingPartyService {
    /// Verifies the chains of all nodes in the audit log from their first rows, and the heads that the nodes copied from each
    /// other. Reads 500 rows at a time.
    ///
    /// - Returns: the number of rows that were verified, and the first one that is missing or was changed, if any. Rows
    ///   that were removed at the end of a chain after another node last copied its head are not noticed.
    /// - Throws: ``RelyingPartyError/unavailable(_:)`` when the storage fails.
    public func verifyAudit() throws(RelyingPartyError) -> (count: Int64, firstWrong: AuditPosition?) {
        try working { try AuditVerification.verify(storage) }
    }
}
