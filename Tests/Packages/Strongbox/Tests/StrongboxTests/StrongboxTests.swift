// SPDX-License-Identifier: Apache-2.0

import Strongbox
import XCTest

final class StrongboxTests: XCTestCase {
    private let box = Strongbox(service: "strongbox.\(UUID().uuidString)")

    override func tearDownWithError() throws { try box.removeAll() }

    func testStringIsStoredAndRemoved() {
        box["token"] = "a secret"
        XCTAssertEqual(box["token"], "a secret")
        box["token"] = "another"
        XCTAssertEqual(box["token"], "another")
        box["token"] = nil
        XCTAssertNil(box["token"])
    }

    func testDataIsStoredUnchanged() throws {
        let data = Data([0, 1, 10, 255])
        try box.set(data, for: "bytes")
        XCTAssertEqual(try box.data(for: "bytes"), data)
        XCTAssertNil(try box.data(for: "nothing"))
    }

    func testCodableValueIsStored() throws {
        struct Account: Codable, Equatable {
            var name: String
            var number: Int
        }
        let account = Account(name: "ada", number: 1815)
        try box.encode(account, for: "account")
        XCTAssertEqual(try box.decode(Account.self, for: "account"), account)
    }

    func testKeysAreListed() throws {
        for key in ["b", "a", "c"] { box[key] = key }
        XCTAssertEqual(try box.keys(), ["a", "b", "c"])
        try box.remove("b")
        XCTAssertEqual(try box.keys(), ["a", "c"])
        try box.removeAll()
        XCTAssertEqual(try box.keys(), [])
    }

    func testAttributesContainAccessibility() throws {
        box.accessibility = .whenUnlocked
        box["token"] = "a secret"
        let attributes = try XCTUnwrap(box.attributes().first)
        XCTAssertEqual(attributes[kSecAttrAccessible as String] as? String, kSecAttrAccessibleWhenUnlocked as String)
        XCTAssertEqual(attributes[kSecAttrService as String] as? String, box.service)
        XCTAssertNotNil(attributes[kSecAttrCreationDate as String] as? Date)
    }

    func testErrorsHaveDescriptions() {
        let error = StrongboxError(status: errSecItemNotFound)
        XCTAssertEqual(error.asNSError.code, -25300)
        XCTAssertEqual(error.asNSError.domain, NSOSStatusErrorDomain)
        XCTAssertTrue(error.description.hasSuffix("(-25300)"))
    }
}
