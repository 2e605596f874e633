// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

@testable import FuzzProperties

/// The limits of `Limits` that the decoder enforces: the largest accepted value and the smallest refused one.
@Suite struct LimitTests {
    private func attribute(_ code: AttributeCode, _ value: CBORItem) -> [UInt8] {
        request(14, [1: .map([.init(key: .unsigned(UInt64(code.rawValue)), value: value)])])
    }

    /// The optional key is at depth three: the message, the request and its parameters.
    @Test func nestingBeyondTheLimitIsRefused() {
        #expect(Limits.nesting == 8)
        #expect(refusal(of: request(2, [128: .nested(5)])) == nil)
        #expect(refusal(of: request(2, [128: .nested(6)])) == .tooDeep)
        #expect(refusal(of: request(2, [128: [[[[[[0: 0]]]]]]])) == .tooDeep)
    }

    @Test(.promise("parse.strict")) func unboundedNestingIsRefusedAndDoesNotOverflowTheStack() {
        for opening: UInt8 in [0x81, 0xa1, 0x98] {
            #expect(refusal(of: [0x83] + [UInt8](repeating: opening, count: 100_000)) != nil)
        }
    }

    @Test func siblingContainersDoNotAddToTheNesting() {
        let shallow = CBORItem.array((0..<100).map { _ in CBORItem.nested(4) })
        #expect(refusal(of: request(2, [128: shallow])) == nil)
    }

    @Test func containersBeyondTheLimitOfEntriesAreRefused() {
        let zeros = [CBORItem](repeating: 0, count: Limits.entries)
        #expect(refusal(of: request(2, [128: .array(zeros)])) == nil)
        #expect(refusal(of: request(2, [128: .array(zeros + [0])])) == .tooManyEntries)
        let entries = (0...UInt64(Limits.entries)).map { CBORItem.Entry(key: .unsigned($0), value: 0) }
        #expect(refusal(of: request(2, [128: .map(entries.dropLast())])) == nil)
        #expect(refusal(of: request(2, [128: .map(entries)])) == .tooManyEntries)
        let items = [CBORItem](repeating: [0: 1], count: Limits.entries)
        #expect(refusal(of: reply(5, [false, .array(items)])) == nil)
        #expect(refusal(of: reply(5, [false, .array(items + [[0: 1]])])) == .tooManyEntries)
    }

    @Test func textsForPeopleBeyondTheLimitsAreRefused() {
        func failure(_ texts: [CBORItem]) -> [UInt8] { reply(0, [0: 21, 1: .array(texts), 2: [""]]) }
        let longest = CBORItem.text([UInt8](repeating: 0x61, count: Limits.phraseBytes))
        let longer = CBORItem.text([UInt8](repeating: 0x61, count: Limits.phraseBytes + 1))
        #expect(refusal(of: failure([CBORItem](repeating: longest, count: 1 + Limits.phraseArguments))) == nil)
        #expect(refusal(of: failure([CBORItem](repeating: "", count: 2 + Limits.phraseArguments))) == .tooManyEntries)
        #expect(refusal(of: failure([longer])) == .tooLong && refusal(of: failure(["", longer])) == .tooLong)
        #expect(refusal(of: failure([])) == .invalidValue)
        #expect(refusal(of: reply(0, [0: 21, 1: "", 2: [""]])) == .wrongType)
    }

    /// The values of the own texts, such as lists of names, can have any length.
    @Test func longTextForPeopleIsCutToTheLimit() throws {
        let names = String(repeating: "äa", count: Limits.phraseBytes)
        let message = Message.reply(id: 1, .failure(Failure(.storeUnreadable, "No \(names).")))
        guard case .reply(_, .failure(let failure)) = try Message(decoding: message.encoded()) else {
            throw WireError.invalidValue
        }
        #expect(failure.message.arguments == [String(names.prefix(Limits.phraseBytes / 4))])
    }

    @Test func moreThan64AttributesAreRefused() {
        let entries = (128..<193).map { CBORItem.Entry(key: .unsigned($0), value: 0) }
        func adding(_ entries: [CBORItem.Entry]) -> [UInt8] {
            request(10, [0: 1, 1: .map(entries), 2: [1, 0], 4: 0, 5: [1: false, 2: [0: "", 3: true]]])
        }
        #expect(refusal(of: adding(entries.dropLast())) == nil)
        #expect(refusal(of: adding(entries)) == .tooManyEntries)
    }

    /// A length or a count is compared with the bytes that are left before memory is reserved for it.
    @Test(arguments: [
        ("5bffffffffffffffff", WireError.tooLong), ("7bffffffffffffffff", .tooLong),
        ("5a00200001", .tooLong), ("5a00200000", .truncated), ("7a00200000", .truncated), ("7a7fffffff", .tooLong),
        ("9bffffffffffffffff", .tooManyEntries), ("bbffffffffffffffff", .tooManyEntries),
        ("9b8000000000000000", .tooManyEntries), ("991000", .truncated), ("b91000", .truncated), ("82", .truncated),
        ("a200", .truncated),
    ])
    func aDeclaredLengthBeyondTheFrameIsRefused(_ text: String, _ expected: WireError) throws {
        let before = request(2, [128: 0]).dropLast()
        #expect(try refusal(of: before + hex(text)) == expected)
    }

    @Test func textsAndByteStringsBeyondTheirLimitsAreRefused() {
        let handle = CBORItem.zeros(16)
        func prompting(_ key: UInt64, _ count: Int) -> [UInt8] {
            var texts: [CBORItem.Entry] = [.init(key: 0, value: "")]
            if key == 0 { texts = [] }
            texts.append(.init(key: .unsigned(key), value: .text(ofLength: count)))
            texts.append(.init(key: 3, value: true))
            return request(6, [0: handle, 1: 1, 2: .map(texts)])
        }
        let cases: [(String, Int, (Int) -> [UInt8])] = [
            ("application", 255, { request(1, [0: .text(ofLength: $0)]) }),
            ("reason", Limits.titleBytes, { prompting(0, $0) }),
            ("fallback title", Limits.titleBytes, { prompting(1, $0) }),
            ("cancel title", Limits.titleBytes, { prompting(2, $0) }),
            ("text attribute", Limits.attributeBytes, { attribute(.account, .text(ofLength: $0)) }),
            ("data attribute", Limits.attributeBytes, { attribute(.generic, .zeros($0)) }),
            ("persistent reference", 256, { request(14, [1: [:], 4: .zeros($0)]) }),
            ("found reference", 256, { reply(5, [false, [[0: 1, 4: .zeros($0)]]]) }),
            ("first passcode", Limits.passcodeBytes, { request(20, [0: 1, 1: .zeros($0)]) }),
            ("new passcode", Limits.passcodeBytes, { request(20, [0: 2, 1: .zeros($0)]) }),
            ("relying party", RelyingParty.nameCharacters, { request(53, [0: .text(ofLength: $0), 1: true]) }),
            (
                "attestation key", Limits.detachedKeyBytes,
                { request(54, [0: "x", 1: .zeros($0), 2: .zeros(1)]) }
            ),
            ("challenge", Limits.challengeBytes, { request(54, [0: "x", 1: .zeros(1), 2: .zeros($0)]) }),
            (
                "nonce", Limits.nonceBytes.upperBound,
                { count in
                    let authentication: CBORItem = [1: false, 2: [0: "", 3: true]]
                    return request(
                        55, [0: [0, .zeros(1)], 1: "x", 2: .zeros(1), 3: .zeros(count), 4: authentication])
                }
            ),
            ("message of a device", Limits.attestationMessageBytes, { reply(33, .zeros($0)) }),
        ]
        for (name, limit, payload) in cases {
            #expect(refusal(of: payload(limit)) == nil, "\(name) of \(limit) bytes")
            #expect(refusal(of: payload(limit + 1)) == .tooLong, "\(name) of \(limit + 1) bytes")
        }
    }

    @Test func aContextHandleHas16Bytes() {
        #expect(refusal(of: request(4, [0: .zeros(16)])) == nil)
        #expect(refusal(of: request(4, [0: .zeros(15)])) == .invalidValue)
        #expect(refusal(of: request(4, [0: .zeros(17)])) == .tooLong)
    }

    @Test func theLargestSecretFitsIntoAFrame() throws {
        let add = Request.AddItem(
            itemClass: .genericPassword, attributes: Sample.everyAttribute, accessControl: AccessControl(),
            secret: SecretBytes(count: Limits.secretBytes) { _ in }, returns: .known, authentication: Authentication())
        let payload = Message.request(id: .max, .addItem(add)).encoded()
        #expect(payload.count <= Limits.frameBytes)
        #expect(try Message(decoding: payload) == .request(id: .max, .addItem(add)))
    }
}
