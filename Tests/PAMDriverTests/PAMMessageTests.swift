// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import PAMProtocol
import Testing

@Suite struct PAMMessageTests {
    private static func samples() throws -> [PAMMessage] {
        [
            .begin(try #require(AccountName("ada")), .password), .answer(SecretBytes("a password".utf8)),
            .said(.hiddenQuestion, "Password: "), .said(.error, ""), .ended(.account, code: 12),
        ]
    }

    @Test func everyMessageSurvivesTheRoundTrip() throws {
        for message in try Self.samples() { #expect(try PAMMessage(decoding: message.encoded()) == message) }
    }

    @Test func noOtherBytesAreAMessage() throws {
        for message in try Self.samples() {
            let bytes = message.encoded().copyBytes()
            for count in bytes.indices {
                #expect(throws: WireError.self) { try PAMMessage(decoding: SecretBytes(Array(bytes[..<count]))) }
            }
            #expect(throws: WireError.self) { try PAMMessage(decoding: SecretBytes(bytes + [0])) }
        }
    }

    @Test func longTextsAndAnswersAreRefused() throws {
        let text = String(repeating: "x", count: PAMMessage.textBytes + 1)
        #expect(throws: WireError.self) { try PAMMessage(decoding: PAMMessage.said(.error, text).encoded()) }
        let answer = SecretBytes([UInt8](repeating: 1, count: PAMMessage.answerBytes + 1))
        #expect(throws: WireError.self) { try PAMMessage(decoding: PAMMessage.answer(answer).encoded()) }
    }

    @Test func everyMessageFitsAFrame() {
        let text = String(repeating: "x", count: PAMMessage.textBytes)
        #expect(PAMMessage.said(.error, text).encoded().count <= PAMMessage.bytes)
        let answer = SecretBytes([UInt8](repeating: 1, count: PAMMessage.answerBytes))
        #expect(PAMMessage.answer(answer).encoded().count <= PAMMessage.bytes)
    }
}
