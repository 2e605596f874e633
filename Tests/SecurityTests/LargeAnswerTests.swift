// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Results that exceed one frame, for each way in which items can be large.
@Suite struct LargeAnswerTests {
    private let simulator: Simulator

    init() throws { simulator = try Simulator() }

    @Test func manyLargeSecretsAreReturned() {
        simulator.run {
            for number in 0..<8 {
                let bytes = Data(repeating: UInt8(number), count: 900_000)
                #expect(add(Query.password("\(number)").with(kSecValueData, bytes)) == errSecSuccess)
            }
            let found = find(Query.password().data.all).result as? [Data]
            #expect(found?.map(\.count) == Array(repeating: 900_000, count: 8))
            #expect(found?.compactMap(\.first) == Array(0..<8))
        }
    }

    @Test func manyLargeProtectedSecretsAreReturned() {
        simulator.run {
            for number in 0..<8 {
                let bytes = Data(repeating: UInt8(number), count: 900_000)
                let item = Query.password("\(number)").with(kSecValueData, bytes).under(.userPresence)
                #expect(add(item) == errSecSuccess)
            }
            simulator.touch(matching: true)
            let found = find(Query.password().data.all).result as? [Data]
            #expect(found?.compactMap(\.first) == Array(0..<8))
        }
    }

    @Test func manyLargeAttributesAreReturned() {
        let comment = String(repeating: "x", count: 60_000)
        simulator.run {
            for number in 0..<50 {
                #expect(add(Query.password("\(number)").with(kSecAttrComment, comment)) == errSecSuccess)
            }
            let found = find(Query.password().attributes.all)
            #expect(found.status == errSecSuccess)
            #expect((found.result as? [Query])?.count == 50)
        }
    }

    @Test func oneItemAtEverySizeLimitIsReturned() throws {
        let text = String(repeating: "x", count: 64 << 10)
        let item = Query.password(text, service: text).with(kSecAttrLabel, text).with(kSecAttrComment, text)
            .with(kSecAttrDescription, text).with(kSecAttrGeneric, Data(count: 64 << 10))
            .with(kSecValueData, Data(count: 1 << 20))
        try simulator.run { () throws in
            #expect(add(item) == errSecSuccess)
            let found = try #require(find(Query.password().attributes.data).result as? Query)
            #expect((found[kSecValueData as String] as? Data)?.count == 1 << 20)
            #expect(found[kSecAttrComment as String] as? String == text)
        }
    }

    @Test func aThousandSmallItemsAreReturnedInOrder() {
        simulator.run {
            for number in 0..<1000 { #expect(add(.password("\(number)").secret("\(number)")) == errSecSuccess) }
            let found = find(Query.password().data.all).result as? [Data]
            #expect(found == (0..<1000).map { Data("\($0)".utf8) })
        }
    }
}
