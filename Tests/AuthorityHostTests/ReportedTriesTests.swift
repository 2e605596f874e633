// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyService
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

@testable import AuthorityDaemon

/// `latchkey-authd` reports what was tried in vain, and `latchkeyd` records it with the program and the item that it knows.
@Suite struct ReportedTriesTests {
    private let machine: TwoServices
    private let session: Session

    init() throws {
        machine = try TwoServices()
        #expect(machine.setPasscode("abcdef") == [.done])
        session = machine.session()
        let item = Request.AddItem(
            attributes: [.account: .text("token")], accessControl: AccessControl(constraints: .userPresence),
            secret: SecretBytes("secret".utf8))
        #expect(machine.answers(session, .addItem(item))() == [.done])
    }

    private var lines: [AuditLine] {
        get throws {
            try machine.keychain.log(Request.Log(after: 0, limit: Limits.auditEntries, verifies: true)).lines
        }
    }
    private var tries: [AuditLine] { get throws { try lines.filter { $0.event == .tryFailed } } }

    /// The challenges of the evaluations so far.
    private var challenges: [[UInt8]] {
        machine.frames.compactMap { frame in
            guard case .authorityCall(_, .evaluate(let request))? = try? ServiceMessage(decoding: frame) else {
                return nil
            }
            return request.challenge
        }
    }

    private func report(_ challenge: [UInt8]) {
        let failed = StoreCall.TryFailed(userID: TwoServices.userID, challenge: challenge, proof: .face)
        machine.sendToStore(ServiceMessage.storeCall(0, .tryFailed(failed)).encoded())
    }

    private func read() -> () -> [Reply] {
        machine.answers(session, .copyItems(Request.CopyItems(.password("token"))))
    }

    @Test(.promise("tries.audit")) func anEntryNamesTheProgramTheItemAndWhatWasTried() throws {
        let replies = read()
        machine.world.perform(.touch(matching: false))
        machine.world.perform(.fallback)
        machine.world.perform(.passcode(SecretBytes("wrong1".utf8)))
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        guard case .items(let items, _)? = replies().last else {
            Issue.record("the right passcode opens it")
            return
        }
        #expect(items.count == 1)
        let item = try #require(lines.first { $0.event == .added }).item
        #expect(try tries.map(\.ground) == [.failed(.finger), .failed(.passcode)])
        #expect(try tries.allSatisfy { $0.item == item && $0.caller == TwoServices.identity.label })
        #expect(try tries.allSatisfy { $0.processID == TwoServices.process.processID })
    }

    /// A passcode can be verified until after its prompt has ended, and is not forgotten with it.
    @Test(.promise("tries.audit")) func aReportNamesAnEvaluationThatEndedAShortTimeAgo() throws {
        _ = read()
        machine.world.perform(.cancel)
        let challenge = try #require(challenges.last)
        report(challenge)
        #expect(try tries.map(\.caller) == [TwoServices.identity.label])
        for _ in 0..<16 {
            _ = read()
            machine.world.perform(.cancel)
        }
        report(challenge)
        #expect(try tries.map(\.caller) == [TwoServices.identity.label, ""], "recorded without the program")
    }

    @Test(.promise("tries.audit")) func aReportAboutAnUnknownEvaluationNamesNoProgram() throws {
        _ = read()
        report([UInt8](repeating: 7, count: AuthToken.digestBytes))
        machine.world.perform(.cancel)
        #expect(try tries.map(\.ground) == [.failed(.face)])
        #expect(try tries.map(\.caller) == [""])
    }
}
