// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import TestPromises
import TestSupport
import Testing

@testable import SQLiteDriver

/// `eraseOldCopies` builds a small database again, because SQLite can leave copies of rows in the unused part of a page.
@Suite struct UnusedPagePartsTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/items" }

    init() throws {
        folder = try TemporaryFolder()
        let store = try SQLiteItemStore.create(at: path)
        for number: UInt8 in 1...20 {
            try store.write { (store) throws(Failure) in
                try store.insert(
                    StoredRow(
                        id: [number], itemClass: .genericPassword, primaryKey: [number], group: [0],
                        indexes: [nil, nil, nil], version: 1, attributes: [number],
                        secret: Array(repeating: number, count: 100)))
            }
        }
    }

    /// Changes a leaf page of a table that has rows and room for some bytes; gets the pages, the first byte of that page, and
    /// that of its unused part.
    private func change(withRoomFor room: Int, _ body: (inout Data, _ page: Int, _ unused: Int) -> Void) throws {
        let file = URL(filePath: path)
        var pages = try Data(contentsOf: file)
        for start in stride(from: 2048, to: pages.count, by: 2048) where pages[start] == 0x0d {
            // The header of a leaf page (sqlite.org/fileformat2.html, section 1.6).
            let cells = Int(pages[start + 3]) << 8 | Int(pages[start + 4])
            let content = Int(pages[start + 5]) << 8 | Int(pages[start + 6])
            let unused = start + 8 + 2 * cells
            guard cells > 0, unused + room < start + content else { continue }
            body(&pages, start, unused)
            try pages.write(to: file)
            return
        }
        Issue.record("no page has room")
    }

    /// Writes bytes into the unused part of a page of a table, as SQLite leaves them when it moves rows to other pages.
    private func plant(_ bytes: Data) throws {
        try change(withRoomFor: bytes.count) { (pages, _, unused) in
            pages.replaceSubrange(unused..<unused + bytes.count, with: bytes)
        }
    }

    private func isLeft(_ bytes: Data) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).contains { name in
            try Data(contentsOf: URL(filePath: folder.path + "/" + name)).range(of: bytes) != nil
        }
    }

    @Test(.promise("sealing.copies")) func theUnusedPartOfAPageIsErased() throws {
        let old = Data("a copy of a row that SQLite moved".utf8)
        try plant(old)
        let store = try SQLiteItemStore.open(path)
        // Gaps, so that a row that got another position is noticed.
        for position: Int64 in [3, 7, 8, 9] {
            try store.write { (store) throws(Failure) in try store.delete(position: position) }
        }
        let before = try positions(store)
        #expect(try isLeft(old))
        #expect(try store.eraseOldCopies(waits: false))
        #expect(try !isLeft(old))
        #expect(try positions(store) == before && before.count == 16)
        #expect(try store.problems() == [])
        try store.write { (store) throws(Failure) in try store.setRecord("name", [1]) }
        #expect(try store.read { (store) throws(Failure) in try store.record("name") } == [1])
        #expect(throws: Never.self) { try SQLiteItemStore.open(path) }
    }

    @Test func aDamagedDatabaseIsNotBuiltAgain() throws {
        let old = Data("a row that could still be restored".utf8)
        try plant(old)
        // The place of the first row, behind the end of the page.
        try change(withRoomFor: 0) { (pages, page, _) in
            pages.replaceSubrange(page + 8..<page + 10, with: [0xff, 0xff])
        }
        let store = try SQLiteItemStore.open(path)
        #expect(throws: Failure(.storeUnreadable)) { try store.eraseOldCopies(waits: false) }
        #expect(try isLeft(old))
    }

    private func positions(_ store: SQLiteItemStore) throws -> [Int64] {
        var positions: [Int64] = []
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all) { (row) throws(Failure) in
                positions.append(row.position)
                return true
            }
        }
        return positions
    }
}
