// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

typealias PAMSample = WireSample<PAMMessage>

extension PAMMessage: WireMessage {
    package static let vectors = ["pam"]
}

/// The messages between `latchkey-authd` and `latchkey-pam`.
private enum Samples {
    static let all: [PAMSample] =
        [
            PAMSample("pam-begin-password", .begin(AccountName(known: "ada"), .password)),
            PAMSample("pam-begin-face", .begin(AccountName(known: "zoë"), .face)),
            PAMSample("pam-answer", .answer(SecretBytes("a password".utf8))),
            PAMSample("pam-answer-empty", .answer(SecretBytes([]))),
            PAMSample("pam-said-nothing", .said(.error, "")),
        ]
        + PAMMessage.Style.allCases.map { PAMSample("pam-said-\($0)", .said($0, "Password: ")) }
        + PAMMessage.Phase.allCases.map { PAMSample("pam-ended-\($0)", .ended($0, code: 12)) }
}

extension AccountName {
    fileprivate init(known name: String) {
        guard let account = AccountName(name) else { preconditionFailure("\(name) is no name of an account") }
        self = account
    }
}

/// The messages of `latchkey-pam` have the bytes of `Tests/Vectors/wire/pam.hex`, and no others are read.
@Suite struct PAMMessageTests {
    @Test func eachVectorHasASample() throws {
        try WireContract.expectOneSampleForEachVector(Samples.all)
    }

    @Test(arguments: Samples.all, WireContract<PAMMessage>.allCases)
    func eachMessageHasOneEncoding(_ sample: PAMSample, _ contract: WireContract<PAMMessage>) throws {
        try contract.check(sample)
    }

    @Test(
        arguments: [
            [0x82, 0x00, 0x40], [0x82, 0x05, 0x40], [0x82, 0x03, 0x82, 0x00, 0x60], [0x82, 0x03, 0x82, 0x06, 0x60],
            [0x82, 0x01, 0x82, 0x60, 0x01], [0x82, 0x01, 0x82, 0x61, 0x61, 0x03], [0x82, 0x04, 0x82, 0x04, 0x00],
            [0x82, 0x04, 0x81, 0x01], [0x82, 0x04, 0x83, 0x01, 0x00, 0x00], [0x81, 0x02], [0x83, 0x02, 0x40, 0x40],
            [0x82, 0x02, 0x60], [0x82, 0x04, 0xa1, 0x01, 0x00], [0x82, 0x04, 0x82, 0x01, 0x18, 0x01],
        ] as [[UInt8]])
    func otherKindsNumbersCountsAndFormsAreRefused(_ bytes: [UInt8]) {
        #expect(throws: WireError.self) { try PAMMessage(decoding: SecretBytes(bytes)) }
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
