// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import TestSupport
import Testing

@testable import LatchkeyKeychain

@Suite struct BlindIndexTests {
    private static let words = ["account-Zürich", "service-Malmö", "label-Łódź", "comment-Jelgava", "secret-Þórshöfn"]

    /// Encodings in which a text could appear in a file.
    private static func spellings(_ text: String) -> [(String, Data)] {
        let utf8 = Data(text.utf8)
        let little = Data(text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
        let big = Data(text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] })
        let digits = utf8.map { String(format: "%02x", $0) }.joined()
        return [
            ("UTF-8", utf8), ("UTF-16LE", little), ("UTF-16BE", big), ("hex", Data(digits.utf8)),
            ("upper hex", Data(digits.uppercased().utf8)), ("base64", Data(utf8.base64EncodedString().utf8)),
        ]
    }

    /// Returns the occurrences of the words in the files, including the write-ahead log.
    private func found(in files: [String: Data]) -> [String] {
        var hits: [String] = []
        for word in Self.words + ["app", "shared"].map({ "group-" + $0 }) {
            for (name, bytes) in Self.spellings(word) {
                for (file, content) in files where content.range(of: bytes) != nil {
                    hits.append("\(word) as \(name) in \(file)")
                }
            }
        }
        return hits
    }

    @Test func theFilesShowNeitherAttributesNorSecrets() throws {
        let store = try StoreOnDisk()
        let caller = Caller(groups: ["group-app", "group-shared"], label: "test", processID: 1, userID: 1000)
        let attributes: Attributes = [
            .account: .text(Self.words[0]), .service: .text(Self.words[1]), .label: .text(Self.words[2]),
            .comment: .text(Self.words[3]), .generic: .data(Array(Self.words[0].utf8)),
        ]
        let keychain = try store.open()
        _ = try keychain.add(
            Request.AddItem(attributes: attributes, secret: SecretBytes(Self.words[4].utf8)),
            caller: caller)
        #expect(try found(in: store.files()).isEmpty, "while it is open, with its log")
        _ = try keychain.delete(ItemQuery(itemClass: .genericPassword, attributes: attributes), caller: caller)
        #expect(try found(in: store.files()).isEmpty, "after deletion")
    }

    @Test func theSearchFindsTextsThatArePresent() {
        for word in Self.words {
            for (name, bytes) in Self.spellings(word) {
                #expect(!found(in: ["control": Data("…".utf8) + bytes]).isEmpty, "\(word) as \(name)")
            }
        }
    }

    @Test func equalTextsInDifferentColumnsAndGroupsHaveDifferentHashes() throws {
        let store = try StoreOnDisk()
        let keychain = try store.open()
        for group in ["app", "shared"] {
            _ = try keychain.add(
                Request.AddItem(attributes: [
                    .account: .text("same"), .service: .text("same"), .label: .text("same"), .accessGroup: .text(group),
                ]),
                caller: StoreOnDisk.caller)
        }
        let rows = try store.rows()
        let hashes = rows.flatMap { [$0.primaryKey, $0.group] + $0.indexes.compactMap { $0 } }
        #expect(hashes.count == 10)
        #expect(Set(hashes).count == 10)
        #expect(hashes.allSatisfy { $0.count == 16 })
    }

    @Test func itemsOfOneServiceShareTheHashOfTheServiceAndNothingElse() throws {
        let store = try StoreOnDisk()
        let keychain = try store.open()
        try keychain.add("one")
        try keychain.add("two")
        let rows = try store.rows()
        #expect(rows[0].indexes[1] == rows[1].indexes[1])
        #expect(rows[0].indexes[0] != rows[1].indexes[0])
        #expect(rows[0].primaryKey != rows[1].primaryKey)
    }

    @Test func theSameItemHasDifferentHashesInAnotherStore() throws {
        let (one, two) = (try StoreOnDisk(), try StoreOnDisk())
        try one.open().add("account")
        try two.open().add("account")
        let (first, second) = (try one.rows()[0], try two.rows()[0])
        #expect(first.primaryKey != second.primaryKey)
        #expect(first.group != second.group)
        #expect(first.indexes != second.indexes)
    }

    @Test func anEmptyPartOfThePrimaryKeyIsTheSameAsAMissingOne() throws {
        let keychain = try Keychain.inMemory()
        let missing = try keychain.index.primaryKey([.accessGroup: .text("app")], .genericPassword)
        let empty = try keychain.index.primaryKey(
            [
                .accessGroup: .text("app"), .account: .text(""), .service: .text(""),
                .synchronizable: .boolean(false),
            ], .genericPassword)
        #expect(missing == empty)
    }

    /// The hash covers length and order of the parts, so that text cannot move from one part to the next.
    @Test func textThatMovesBetweenPartsOfThePrimaryKeyChangesTheHash() throws {
        let keychain = try Keychain.inMemory()
        let one = try keychain.index.primaryKey(
            [.accessGroup: .text("app"), .account: .text("ab"), .service: .text("c")], .genericPassword)
        let two = try keychain.index.primaryKey(
            [.accessGroup: .text("app"), .account: .text("a"), .service: .text("bc")], .genericPassword)
        #expect(one != two)
    }
}
