// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

@testable import SQLiteDriver

/// A store on a file system that is mounted read-only. `Tests/System` plays it with a real one.
@Suite struct UnchangingStoreTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        // Characters that have a meaning in a URI.
        path = folder.path + "/a store?immutable=0#50%.sqlite"
        let store = try SQLiteItemStore.create(at: path)
        try store.write { (rows) throws(Failure) in try rows.setRecord("name", [1, 2, 3]) }
    }

    @Test func rowsAreReadAndNoFileIsMade() throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let store = try SQLiteItemStore.openUnchanging(path)
        #expect(try store.read { (rows) throws(Failure) in try rows.record("name") } == [1, 2, 3])
        #expect(try store.problems().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test func everyWriteIsRefusedAsReadOnly() throws {
        let store = try SQLiteItemStore.openUnchanging(path)
        do throws(Failure) {
            try store.write { (rows) throws(Failure) in try rows.setRecord("name", [4]) }
            Issue.record("nothing can be written")
        } catch {
            #expect(error.status == .storeReadOnly)
        }
        #expect(try store.read { (rows) throws(Failure) in try rows.record("name") } == [1, 2, 3])
    }

    @Test func logWithChangesIsNotLeftOut() throws {
        let writer = try SQLiteItemStore.open(path)
        try writer.write { (rows) throws(Failure) in try rows.setRecord("name", [5]) }
        do throws(Failure) {
            _ = try SQLiteItemStore.openUnchanging(path)
            Issue.record("the last commit would be missing")
        } catch {
            #expect(error.status == .storeReadOnly && error.message.contains("log"))
        }
        withExtendedLifetime(writer) {}
    }
}
