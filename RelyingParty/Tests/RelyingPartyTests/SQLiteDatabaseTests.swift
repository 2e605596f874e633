// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing

@testable import RelyingParty
@testable import RelyingPartySQLite

/// Several connections to one file.
struct SQLiteDatabaseTests {
    private static func withFile(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try body(folder.appending(path: "server.sqlite").path)
    }

    @Test func aDatabaseOfThisVersionIsOpenedWhileAnotherProcessWrites() throws {
        try Self.withFile { path in
            let writer = try SQLiteConnection(path)
            try writer.transaction { _ in
                let database = try SQLiteDatabase(path)
                #expect(try database.read { try $0.run("SELECT count(*) FROM keys", []) } == [[.integer(1)]])
            }
        }
    }

    @Test func theNodesOfTheAuditLogAreFoundWithoutReadingItsRows() throws {
        let connection = try SQLiteConnection(":memory:")
        #expect(try connection.run(Statements.auditNodes, []).isEmpty)
        for node in ["b", "", "a"] {
            for number in 1...3 as ClosedRange<Int64> {
                let row: [SQLValue] = [
                    .text(node), .integer(number), .integer(0), .text(""), .text(""), .blob([]), .text(""), .blob([]),
                ]
                _ = try connection.run(Statements.insertAudit, row)
            }
        }
        #expect(try connection.run(Statements.auditNodes, []) == [[.text("")], [.text("a")], [.text("b")]])
        let plan = try connection.run("EXPLAIN QUERY PLAN " + Statements.auditNodes, []).compactMap { row in
            if case .text(let step)? = row.last, step.contains("audit") { step } else { nil }
        }
        #expect(plan.count == 2 && plan.allSatisfy { $0.hasPrefix("SEARCH audit USING PRIMARY KEY") }, "\(plan)")
    }

    @Test func aReadWaitsForNoConnectionWhileAnotherOneIsFree() throws {
        try Self.withFile { path in
            let (database, done) = (try SQLiteDatabase(path), DispatchGroup())
            // The transaction has the connection that writes, and the first read one of the others, as long as more reads
            // run than there are connections.
            try database.transaction { _ in
                try database.read { _ in
                    DispatchQueue(label: "reads").async(group: done) {
                        for _ in 0..<8 { _ = try? database.read { try $0.run("SELECT 1", []) } }
                    }
                    #expect(done.wait(timeout: .now() + 20) == .success)
                }
            }
            #expect(done.wait(timeout: .now() + 60) == .success)
        }
    }
}
