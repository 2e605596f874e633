// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import SeamStandIns
import TestSupport
import Testing

@testable import LatchkeyService

/// In tiers in which every program of the user can use the name of any app, an item of another app is deleted by the reference
/// of a list, without a prompt. `AuthorityHostTests` has those of the other tiers.
@Suite struct ListedDeletionTests {
    private let machine: SimulatedService
    private let prompts: CollectingPrompter

    init() throws {
        (machine, prompts) = try SimulatedService.withPrompts()
    }

    private func answers(_ request: Request) -> Recorder<Reply> {
        let answers = Recorder<Reply>()
        machine.handler().handle(1, request, answers.add)
        return answers
    }

    private func delete(_ reference: [UInt8]) -> Recorder<Reply> {
        answers(.deleteListed(Request.DeleteListed(reference)))
    }

    private static func status(of reply: Reply) -> Status? {
        if case .failure(let failure) = reply { failure.status } else { nil }
    }

    /// Adds an item of another app and returns its reference.
    private func fill(_ account: String = "login") throws -> [UInt8] {
        let request = Request.AddItem(
            attributes: [.account: .text(account)], secret: SecretBytes("topsecret".utf8),
            returns: [.persistentReference])
        let bank = Caller(groups: ["bank"], label: "bank", processID: 2, userID: 1)
        return try #require(try machine.keychain.add(request, caller: bank)?.persistentReference)
    }

    private var count: Int {
        get throws {
            var (count, cursor) = (0, SearchCursor())
            _ = try machine.keychain.listEverything(from: &cursor) { _ in count += 1 }
            return count
        }
    }

    @Test func oneItemIsDeletedWithoutAPromptAndRecorded() throws {
        let first = try fill()
        _ = try fill("card")
        #expect(delete(first).all == [.done])
        #expect(try count == 1 && prompts.shown.isEmpty)
        let lines = try machine.keychain.log(Request.Log(after: 0, limit: 1024, verifies: true)).lines
        #expect(lines.last?.event == .deleted && lines.last?.caller == "app")
        #expect(delete(first).all.compactMap(Self.status(of:)) == [.itemNotFound])
    }

    @Test func lockedKeychainDeletesNothing() throws {
        #expect(answers(.setPasscode("1234")).all == [.done])
        let reference = try fill()
        #expect(answers(.lock).all == [.done])
        #expect(delete(reference).all.compactMap(Self.status(of:)) == [.interactionNotAllowed])
    }

    @Test(arguments: [[UInt8](repeating: 0, count: 34), [1, 2, 3], []])
    func inventedReferenceDeletesNothing(_ reference: [UInt8]) throws {
        _ = try fill()
        let statuses: [Status] = delete(reference).all.compactMap(Self.status(of:))
        #expect(statuses == [.itemNotFound] || statuses == [.invalidParameter])
        #expect(try count == 1)
    }
}
