// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

@testable import FuzzProperties

/// `Message.idOfRefusedRequest`: the request that a refusal answers.
@Suite struct RefusedRequestTests {
    private func id(_ payload: [UInt8]) -> UInt64? { Message.idOfRefusedRequest(SecretBytes(payload)) }

    @Test(arguments: [0, 1, 23, 24, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, UInt64.max])
    func theIDOfARequestWithARefusedBodyIsFound(_ expected: UInt64) {
        for body: CBORItem in [0, [], [99, [:]], [1, [0: 7]], [10, "x"], .simple(22)] {
            let payload = CBORItem.array([0, .unsigned(expected), body]).encoded
            #expect(refusal(of: payload) != nil)
            #expect(id(payload) == expected)
        }
    }

    @Test func theIDIsFoundInARequestThatIsTruncatedAfterIt() throws {
        let payload = Message.request(id: 300, .createContext).encoded().copyBytes()
        #expect(payload.count == 8)
        for count in 0..<5 { #expect(id(Array(payload.prefix(count))) == nil, "\(count) bytes") }
        for count in 5...8 { #expect(id(Array(payload.prefix(count))) == 300, "\(count) bytes") }
    }

    @Test func theIDIsFoundInARequestWithTrailingBytes() {
        #expect(id(Message.request(id: 7, .status).encoded().copyBytes() + [0]) == 7)
    }

    @Test func repliesCancelsAndOtherBytesHaveNoRequestID() throws {
        #expect(id(Message.reply(id: 7, .done).encoded().copyBytes()) == nil)
        #expect(id(Message.cancel(id: 7).encoded().copyBytes()) == nil)
        for text in [
            "", "83", "8300", "830020", "830040", "8300f4", "83001817", "83001f", "84000701f4", "820007", "a0",
        ] {
            #expect(try id(hex(text)) == nil, "\(text)")
        }
    }

    @Test(arguments: Sample.all) func theIDOfAnAcceptedRequestIsItsID(_ sample: Sample) {
        let payload = sample.message.encoded().copyBytes()
        if case .request(let expected, _) = sample.message {
            #expect(id(payload) == expected)
        } else {
            #expect(id(payload) == nil)
        }
    }
}
