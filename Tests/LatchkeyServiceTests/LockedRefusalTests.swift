// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// A program that does not get its item because the keychain is locked is in the audit log, and an agent is told once, so that it
/// can offer to unlock the keychain.
@Suite struct LockedRefusalTests {
    /// Counts what agents are told.
    private final class Agents: Prompter {
        private let prompter: any Prompter
        private let users = Recorder<UInt32>()
        var news: [UInt32] { users.all }

        init(_ prompter: any Prompter) { self.prompter = prompter }
        func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
            prompter.show(prompt, events: events)
        }
        func update(_ id: UInt64, _ content: PromptContent) { prompter.update(id, content) }
        func dismiss(_ id: UInt64) { prompter.dismiss(id) }
        func announceNews(to user: UInt32) { users.add(user) }
    }

    private let machine: SimulatedService
    private let agents: Agents
    private let app: any RequestHandler

    init() throws {
        var agents: Agents?
        machine = try SimulatedService { parts, _ in
            let counting = Agents(parts.prompter)
            (agents, parts.prompter) = (counting, counting)
        }
        self.agents = try #require(agents)
        app = machine.handler()
        #expect(reply(.setPasscode("1234")) == .done)
        let add = Request.AddItem(attributes: [.account: .text("token")], secret: SecretBytes("s".utf8))
        #expect(reply(.addItem(add)) == .done)
    }

    private func reply(_ request: Request) -> Reply? { InterruptedService.answers(app, request)().last }

    private func unlock() -> Reply? {
        machine.world.perform(.touch(matching: true))
        return reply(.unlock(Prompting()))
    }

    private func read(asks: Bool = true) -> Status? {
        var authentication = Authentication()
        authentication.prompting.interactionAllowed = asks
        let request = Request.CopyItems(
            query: ItemQuery(itemClass: .genericPassword, attributes: [.account: .text("token")]), limit: .one,
            returns: .data, authentication: authentication)
        if case .failure(let failure)? = reply(.copyItems(request)) { return failure.status }
        return nil
    }

    private func log() throws -> [AuditLine] {
        try machine.keychain.recordGatheredRefusals()
        return try machine.keychain.log(Request.Log(after: 0, limit: 100, verifies: true)).lines
    }

    @Test(.promise("audit.refusals")) func aReadOfALockedKeychainIsRecordedWithItsItem() throws {
        #expect(read() == nil)
        #expect(reply(.lock) == .done)
        #expect(read() == .interactionNotAllowed)
        let lines = try log()
        let refusal = try #require(lines.last { $0.event == .refused })
        #expect(refusal.ground == .refused(.locked) && refusal.item.count == 16)
        #expect(refusal.item == lines.first { $0.event == .added }?.item)
    }

    @Test func agentsAreToldOnceForEachLockAndWhenItEnds() {
        for _ in 0..<2 {
            let before = agents.news.count
            #expect(reply(.lock) == .done)
            for _ in 0..<5 { #expect(read() == .interactionNotAllowed) }
            #expect(agents.news.count == before + 1)
            #expect(unlock() == .done)
            #expect(agents.news.count == before + 2)
            #expect(read() == nil)
        }
        #expect(agents.news.allSatisfy { $0 == 1 })
    }

    /// Such a program does not wait for the person. After its refusal, an unlock is not announced either.
    @Test func aProgramThatAllowsNoInteractionIsNoNews() throws {
        #expect(reply(.lock) == .done)
        #expect(read(asks: false) == .interactionNotAllowed)
        #expect(unlock() == .done)
        #expect(agents.news.isEmpty)
        #expect(try !log().contains { $0.event == .refused })
    }

    /// It ends where the session is unlocked, and nothing else has to be unlocked.
    @Test func theLockOfASessionIsNoNews() {
        machine.service.authority.report(.sessionLocked, then: nil)
        machine.service.applySessionLock(isLocked: true)
        #expect(read() == .interactionNotAllowed)
        #expect(agents.news.isEmpty)
    }
}
