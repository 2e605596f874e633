// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPrompts
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

@testable import FuzzProperties

typealias AgentSample = WireSample<AgentFrame>

extension AgentFrame: WireMessage {
    package static let vectors = ["agent"]
}

extension AgentSample {
    fileprivate init(_ name: String, _ message: AgentMessage) { self.init(name, .message(prompt: 7, message)) }
}

/// The frames of an agent's connection.
private enum Samples {
    private static let content = PromptContent(
        method: .biometry, notice: .notRecognised, triesLeft: 2, showsFallback: true)

    static let code = PromptContent(
        method: .passcode, notice: .none, triesLeft: 0, showsFallback: false, step: .recoveryCodeShown,
        recoveryCode: SecretBytes("AB".utf8))

    private static func newPasscode(
        _ step: PromptContent.Step, _ notice: PromptContent.Notice
    ) -> PromptContent {
        PromptContent(method: .passcode, notice: notice, triesLeft: 0, showsFallback: false, step: step)
    }

    static let all: [AgentSample] = [
        AgentSample("agent-register", .register),
        AgentSample("agent-registered", .registered),
        AgentSample("agent-refused", .refused(.taken)),
        AgentSample("agent-news", .news),
        AgentSample(
            "agent-show",
            .show(
                Prompt(
                    id: 7, caller: "notes", program: "/usr/bin/notes", ownName: "Bank", processID: 4711,
                    reason: "open", cancelTitle: "Cancel", fallbackTitle: "Enter Passcode", faceUsage: "",
                    sensor: .touchID, tier: .user, terminal: 0, userID: 1000, content: content))),
        AgentSample(
            "agent-show-code",
            .show(
                Prompt(
                    id: 7, purpose: .exportItems, caller: "latchkey", processID: 812, reason: "",
                    cancelTitle: "Cancel", fallbackTitle: "", faceUsage: "", sensor: .none, tier: .user, terminal: 0,
                    userID: 1000, content: code))),
        AgentSample("agent-update-code", .update(code)),
        AgentSample("agent-update", .update(content)),
        AgentSample(
            "agent-update-permission",
            .update(
                PromptContent(
                    method: .biometry, notice: .none, triesLeft: 2, showsFallback: false, question: .permission))),
        AgentSample(
            "agent-update-scan",
            .update(
                PromptContent(method: .biometry, notice: .none, triesLeft: 2, showsFallback: false, question: .scan))),
        AgentSample(
            "agent-update-delayed",
            .update(
                PromptContent(
                    method: .passcode, notice: .wrongPasscode, triesLeft: 1, showsFallback: false, delaySeconds: 300))),
        AgentSample(
            "agent-update-guidance",
            .update(PromptContent(method: .biometry, notice: .swipeTooShort, triesLeft: 3, showsFallback: false))),
        AgentSample(
            "agent-update-in-use",
            .update(PromptContent(method: .biometry, notice: .sensorInUse, triesLeft: 3, showsFallback: false))),
        AgentSample(
            "agent-update-disconnected",
            .update(PromptContent(method: .passcode, notice: .sensorDisconnected, triesLeft: 3, showsFallback: false))),
        AgentSample(
            "agent-update-account",
            .update(
                PromptContent(
                    method: .passcode, notice: .accountPasswordChanged, triesLeft: 3, showsFallback: false,
                    secret: .previousPassword, message: "Hi"))),
        AgentSample("agent-dismiss", .dismiss),
        AgentSample("agent-visible", .event(.visible)),
        AgentSample("agent-unavailable", .event(.unavailable)),
        AgentSample("agent-lost", .event(.lost)),
        AgentSample("agent-cancel", .event(.cancel)),
        AgentSample("agent-fallback", .event(.fallback)),
        AgentSample("agent-passcode", .event(.passcode(SecretBytes("1234".utf8)))),
        AgentSample("agent-touch", .event(.simulatedTouch(matching: true))),
        AgentSample("agent-permission", .event(.permission(false))),
        AgentSample("agent-code-acknowledged", .event(.codeAcknowledged)),
        AgentSample("agent-code-entered", .event(.codeEntered(SecretBytes("AB".utf8)))),
        AgentSample(
            "agent-show-new-passcode",
            .show(
                Prompt(
                    id: 7, purpose: .setPasscode, caller: "latchkey", processID: 812, reason: "",
                    cancelTitle: "Cancel", fallbackTitle: "", faceUsage: "", sensor: .none, tier: .user, terminal: 0,
                    userID: 1000, content: newPasscode(.newPasscodeAsked, .none)))),
        AgentSample(
            "agent-show-answer",
            .show(
                Prompt(
                    id: 7, purpose: .readSecret, caller: "gh", processID: 812, reason: "mail", cancelTitle: "Cancel",
                    fallbackTitle: "", faceUsage: "", sensor: .none, tier: .user, terminal: 0, userID: 1000,
                    startedBy: "bash ← claude", content: newPasscode(.answerAsked, .none)))),
        AgentSample("agent-update-new-passcode-short", .update(newPasscode(.newPasscodeAsked, .newPasscodeTooShort))),
        AgentSample("agent-update-new-passcode-again", .update(newPasscode(.newPasscodeRepeated, .none))),
        AgentSample("agent-update-code-again", .update(newPasscode(.recoveryCodeRepeated, .none))),
        AgentSample("agent-update-code-wrong", .update(newPasscode(.recoveryCodeAsked, .wrongRecoveryCode))),
        AgentSample("agent-update-new-passcode-differs", .update(newPasscode(.newPasscodeAsked, .newPasscodesDiffer))),
        AgentSample("agent-new-passcode-entered", .event(.newPasscodeEntered(SecretBytes("1234".utf8)))),
        AgentSample("agent-new-passcode-repeated", .event(.newPasscodeRepeated(SecretBytes("1234".utf8)))),
    ]
}

/// Frames between the daemon and an agent: golden vectors, refusals and limits.
@Suite struct AgentFrameTests {
    private func refusal(_ item: CBORItem) -> WireError? { refusal(item.encoded) }

    private func refusal(_ bytes: [UInt8]) -> WireError? { AgentFrame.refusal(of: bytes) }

    @Test func eachVectorHasASample() throws {
        try WireContract.expectOneSampleForEachVector(Samples.all)
    }

    @Test(arguments: Samples.all, WireContract<AgentFrame>.allCases)
    func eachMessageHasOneEncoding(_ sample: AgentSample, _ contract: WireContract<AgentFrame>) throws {
        try contract.check(sample)
    }

    @Test func theFirstByteDistinguishesAgentFramesFromClientFrames() {
        for sample in Samples.all { #expect(AgentFrame.mayBegin(sample.message.encoded())) }
        for sample in Sample.all { #expect(!AgentFrame.mayBegin(sample.message.encoded()), "\(sample.name)") }
        #expect(!AgentFrame.mayBegin(SecretBytes([])))
    }

    @Test func framesOfUnknownKindsAreRefused() {
        for kind: UInt64 in [5, 23, 24, 255, .max] {
            #expect(refusal(.array([.unsigned(kind), [:]])) == .unknownMessage, "\(kind)")
        }
        #expect(refusal(.array([0, 1, 2])) == .invalidValue)
        #expect(refusal(.array([0])) == .invalidValue)
        #expect(refusal(.array([0, [0: 0]])) == .unknownKey(0))
        #expect(refusal(.array([0, [:], [:]])) == .invalidValue)
        #expect(refusal(.array([2, 0])) == .invalidValue, "refusal 0")
        #expect(refusal(.array([2, 2])) == .invalidValue, "refusal 2")
        #expect(refusal(.array([2, 257])) == .invalidValue, "refusal 257")
        #expect(refusal(.array([3, .array([.negative(0), .array([2, [:]])])])) == .wrongType)
        #expect(refusal(.array([3, .array([7, .array([4, [:]])])])) == .unknownMessage)
        #expect(refusal(.array([3, .array([7, .array([3, .array([11])])])])) == .invalidValue, "event 11")
        #expect(refusal(.array([3, .array([7, .array([3, .array([13, .bytes([0x31])])])])])) == .invalidValue)
        #expect(refusal(.array([3, .array([7, .array([3, .array([])])])])) == .invalidValue, "no event")
        #expect(refusal(.array([3, .array([7, .array([3, .array([0, true])])])])) == .invalidValue)
    }

    @Test func aPromptShownUnderAnotherNumberIsRefused() throws {
        let sample = try #require(Samples.all.first { $0.name == "agent-show" })
        guard case .message(_, let show) = sample.message else { return }
        let bytes = AgentFrame.message(prompt: 8, show).encoded().copyBytes()
        #expect(refusal(bytes) == .invalidValue)
    }

    @Test func aPasscodeHasAtMostAsManyBytesAsTheLimit() {
        let events: [(SecretBytes) -> PromptEvent] = [
            { .passcode($0) }, { .newPasscodeEntered($0) }, { .newPasscodeRepeated($0) },
        ]
        for event in events {
            func typed(_ count: Int) -> [UInt8] {
                AgentFrame.message(prompt: 1, .event(event(SecretBytes([UInt8](repeating: 0x31, count: count)))))
                    .encoded().copyBytes()
            }
            #expect(refusal(typed(Limits.passcodeBytes)) == nil)
            #expect(refusal(typed(Limits.passcodeBytes + 1)) == .tooLong)
        }
    }

    /// Only a content of the step that shows the recovery code may contain it; the decoder refuses any other.
    @Test(.promise("backup.code")) func aRecoveryCodeInAnotherStepIsRefused() throws {
        func content(_ step: UInt64, _ code: [UInt8]) -> [UInt8] {
            CBORItem.array([
                3,
                .array([
                    7, .array([1, .array([2, 0, 0, false, 0, .unsigned(step), 0, .bytes(code), 0, .array([""])])]),
                ]),
            ]).encoded
        }
        #expect(refusal(content(1, [0x41])) == nil)
        #expect(refusal(content(1, [])) == .invalidValue)
        for step: UInt64 in [0, 2, 3, 4, 5, 6, 7] {
            #expect(refusal(content(step, [])) == nil)
            #expect(refusal(content(step, [0x41])) == .invalidValue)
        }
        var early = Samples.code
        early.step = .proof
        #expect(AgentFrame.message(prompt: 7, .update(early)).encoded().copyBytes() == content(0, []), "never written")
    }

    @Test func aRecoveryCodeHasAtMostAsManyBytesAsTheLimit() {
        func typed(_ count: Int) -> [UInt8] {
            AgentFrame.message(prompt: 1, .event(.codeEntered(SecretBytes([UInt8](repeating: 0x31, count: count)))))
                .encoded().copyBytes()
        }
        #expect(refusal(typed(Limits.recoveryCodeBytes)) == nil)
        #expect(refusal(typed(Limits.recoveryCodeBytes + 1)) == .tooLong)
    }
}
