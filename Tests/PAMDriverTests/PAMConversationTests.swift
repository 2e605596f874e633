// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import TestPromises
import Testing

@testable import ChildProcessDrivers

/// What modules may ask, and what libpam's values mean.
@Suite struct PAMConversationTests {
    private func step(_ messages: PAMMessage...) -> PAMConversation.Step {
        var conversation = PAMConversation()
        var last = PAMConversation.Step.answer
        for message in messages { last = conversation.received(message) }
        return last
    }

    /// The verdict after the password was asked for.
    private func verdict(_ phase: PAMMessage.Phase, _ code: UInt64) -> String {
        guard case .end(let verdict) = step(.said(.hiddenQuestion, "Password: "), .ended(phase, code: code)) else {
            return "no end"
        }
        return verdict.name
    }

    @Test func theFirstHiddenQuestionIsAnswered() {
        #expect(step(.said(.hiddenQuestion, "Password: ")) == .answer)
    }

    @Test func aSecondHiddenQuestionEndsTheVerification() {
        let last = step(.said(.hiddenQuestion, "Password: "), .said(.hiddenQuestion, "Code: "))
        #expect(last.verdictName == "failed")
    }

    @Test(arguments: [PAMMessage.Style.shownQuestion, .other])
    func anotherKindOfQuestionEndsTheVerification(style: PAMMessage.Style) {
        #expect(step(.said(style, "login: ")).verdictName == "failed")
    }

    @Test func messagesAreShownUpToTheirLimit() {
        var conversation = PAMConversation()
        for _ in 0..<PAMConversation.messages {
            #expect(conversation.received(.said(.information, "a text")) == .show("a text"))
        }
        #expect(conversation.received(.said(.error, "one more")).verdictName == "failed")
    }

    @Test func messagesOfTheOtherSideEndTheVerification() throws {
        #expect(step(.answer(SecretBytes([1]))).verdictName == "failed")
        #expect(step(.begin(try #require(AccountName("ada")), .password)).verdictName == "failed")
    }

    @Test(.promise("account.pam")) func successWithoutAQuestionIsNoSuccess() {
        #expect(step(.ended(.account, code: 0)).verdictName == "failed")
        #expect(step(.ended(.account, code: PAMReturnValue.newPasswordRequired.rawValue)).verdictName == "failed")
    }

    @Test func onlyABrokenRuleIsReportedAsNotTrusted() throws {
        let broken: [[PAMMessage]] = [
            [.answer(SecretBytes([1]))], [.said(.hiddenQuestion, ""), .said(.hiddenQuestion, "")],
            [.said(.shownQuestion, "")], [.said(.other, "")], [.ended(.account, code: 0)],
            Array(repeating: .said(.error, ""), count: PAMConversation.messages + 1),
        ]
        for messages in broken {
            var conversation = PAMConversation()
            let last = messages.map { conversation.received($0) }.last
            guard case .end(.failed(let failure))? = last else {
                Issue.record("\(messages) broke no rule")
                continue
            }
            #expect(failure.status == .peerNotTrusted, "\(messages)")
        }
        guard case .end(.failed(let failure)) = step(.ended(.authentication, code: 19)) else {
            return #expect(Bool(false), "an unknown value is a failure")
        }
        #expect(failure.status == .authenticationFailed)
    }

    @Test(arguments: [
        (PAMMessage.Phase.account, 0 as UInt64, "right"), (.account, 12, "right, to be changed"),
        (.authentication, 7, "wrong"), (.authentication, 11, "wrong"),
        (.authentication, 9, "notAvailable"), (.account, 9, "notAvailable"),
        (.account, 13, "refused"), (.authentication, 13, "refused"), (.account, 6, "refused"),
        (.authentication, 6, "refused"), (.authentication, 10, "refused"), (.account, 27, "refused"),
        (.account, 7, "refused"),
        // Success of the first phase alone says nothing about the account.
        (.authentication, 0, "failed"), (.authentication, 12, "failed"), (.start, 0, "failed"), (.start, 1, "failed"),
        (.authentication, 19, "failed"), (.authentication, 1000, "failed"), (.account, 26, "failed"),
    ])
    func everyValueHasItsMeaning(phase: PAMMessage.Phase, code: UInt64, expected: String) {
        #expect(verdict(phase, code) == expected)
    }
}

extension PAMConversation.Step {
    /// The name of the verdict; nil if the conversation goes on.
    fileprivate var verdictName: String? { if case .end(let verdict) = self { verdict.name } else { nil } }
}

extension AccountVerdict {
    /// The name of the verdict, without its failure.
    var name: String {
        switch self {
        case .right(let mustChange): mustChange ? "right, to be changed" : "right"
        case .wrong: "wrong"
        case .refused: "refused"
        case .notAvailable: "notAvailable"
        case .failed: "failed"
        }
    }
}
