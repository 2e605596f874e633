// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RelyingParty

/// The chains of several nodes, which share a database of PostgreSQL.
@Suite(.enabled(if: Cluster.isWanted, "PostgreSQL 15 is not installed"))
struct AuditTests {
    private let nodes: [Fixture]

    init() throws {
        let conninfo = try Cluster.shared.get().schema()
        nodes = [try Fixture(conninfo: conninfo, node: "a"), try Fixture(conninfo: conninfo, node: "b")]
        for node in nodes { for _ in 0..<3 { _ = try node.service.makeCode(for: "ada") } }
        // Each node copies the head of the other one; the second one copies the row in which the first one did so.
        for node in nodes { try node.service.removeOld() }
    }

    private func run(_ statement: String) throws { _ = try nodes[0].service.storage.read(statement, []) }
    private var wrong: AuditPosition? { get throws { try nodes[0].service.verifyAudit().firstWrong } }

    @Test func headsAreCopiedOnceAnHourAndNotWhileTheOtherChainRests() throws {
        #expect(try nodes[0].service.verifyAudit() == (8, nil))
        for node in nodes { try node.service.removeOld() }
        #expect(try nodes[0].service.verifyAudit() == (8, nil))
        for hour in 1...4 {
            for node in nodes { node.advance(3600) }
            try nodes[0].service.removeOld()
            // The second node has stopped; its head is copied until it has rested for an hour.
            #expect(try nodes[0].service.verifyAudit() == (8 + min(Int64(hour), 2), nil))
        }
    }

    @Test func aCutEndIsFoundByTheOtherChain() throws {
        try run("DELETE FROM audit WHERE node = 'b' AND number >= 3")
        #expect(try wrong == AuditPosition(node: "b", number: 3))
    }

    @Test func aChainThatIsMissingIsFound() throws {
        try run("DELETE FROM audit WHERE node = 'b'")
        #expect(try wrong == AuditPosition(node: "b", number: 3))
        try run("DELETE FROM audit WHERE node = 'a'")
        #expect(try wrong == AuditPosition(node: "a", number: 1))
    }

    @Test(arguments: [
        "time = time + 1", "event = 'x'", "\"user\" = 'x'", "key = '\\x00'", "detail = 'x'", "hash = '\\x00'",
    ])
    func aChangedRowIsFound(change: String) throws {
        try run("UPDATE audit SET \(change) WHERE node = 'b' AND number = 2")
        #expect(try wrong == AuditPosition(node: "b", number: 2))
    }

    @Test func swappedChainsAreFound() throws {
        for (old, new) in [("a", "x"), ("b", "a"), ("x", "b")] {
            try run("UPDATE audit SET node = '\(new)' WHERE node = '\(old)'")
        }
        #expect(try wrong == AuditPosition(node: "a", number: 1))
    }

    @Test func aMissingRowInTheMiddleIsFound() throws {
        try run("DELETE FROM audit WHERE node = 'a' AND number = 2")
        #expect(try wrong == AuditPosition(node: "a", number: 2))
    }
}
