// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// A program that sends wrong passwords delays only itself.
@Suite struct StretchFloodTests {
    private let stretching = HeldStretchQueue()
    private let simulated: SimulatedService
    private let flooding: Session
    private let other: Session

    init() throws {
        let queue = stretching
        let simulated = try SimulatedService(WorldState(sensor: .none)) { parts, _ in parts.stretching = queue }
        self.simulated = simulated
        (flooding, other) = (Self.session("flooding", simulated), Self.session("other", simulated))
        let added = InterruptedService.answers(flooding, adding("own", password: "right"))
        stretching.run()
        #expect(added() == [.done])
    }

    private static func session(_ name: String, _ simulated: SimulatedService) -> Session {
        let caller = Caller(groups: [name], label: name, program: "/usr/bin/" + name, processID: 1, userID: 1)
        return simulated.service.session(
            caller: caller, terminal: 0, mayNameItself: false, hello: Request.Hello(application: ""))
    }

    private func adding(_ account: String, password: String? = nil) -> Request {
        let constraints: AccessConstraints = password == nil ? [] : .applicationPassword
        return .addItem(
            Request.AddItem(
                attributes: [.account: .text(account)],
                accessControl: AccessControl(accessibility: .whenUnlocked, constraints: constraints),
                secret: SecretBytes([1]),
                authentication: Authentication(applicationPassword: password.map { SecretBytes($0.utf8) })))
    }

    private func reading(_ account: String, password: String, limit: MatchLimit = .one) -> Request {
        .copyItems(
            Request.CopyItems(
                .password(account), limit: limit,
                authentication: Authentication(applicationPassword: SecretBytes(password.utf8))))
    }

    /// Sends as many wrong passwords as may wait.
    private func flood() {
        for id in 1...UInt64(Limits.stretchesWaiting) {
            #expect(InterruptedService.answers(flooding, reading("own", password: "wrong"), id: id)() == [])
        }
    }

    @Test(.promise("turns.passwords")) func addOfAnotherProgramDoesNotWaitForAFlood() {
        flood()
        #expect(InterruptedService.answers(other, adding("item"))() == [.done])
    }

    @Test(.promise("turns.passwords")) func passwordOfAnotherProgramWaitsForAtMostOneOfAFlood() {
        flood()
        let answers = InterruptedService.answers(other, adding("item", password: "password"))
        stretching.step()
        #expect(answers() == [])
        stretching.step()
        #expect(answers() == [.done])
    }

    @Test func passcodeAtAPromptWaitsForAtMostOneOfAFlood() throws {
        let set = InterruptedService.answers(other, .setPasscode("123456"), id: 1)
        stretching.run()
        #expect(set() == [.done])
        flood()
        simulated.world.perform(.passcode(SecretBytes("123456".utf8)))
        let evaluation = InterruptedService.evaluation(try other.context(id: 2), .deviceOwnerAuthentication)
        let answers = InterruptedService.answers(other, evaluation, id: 3)
        for _ in 1...2 { stretching.step() }
        #expect(answers().count == 1)
    }

    @Test(.promise("turns.passwords")) func passwordsBeyondTheLimitOfAProgramAreRefused() {
        flood()
        let more = InterruptedService.answers(flooding, reading("own", password: "right"), id: 1000)
        #expect(more() == [.failure(Failure(.limitExceeded))])
        #expect(stretching.count == Limits.stretchesWaiting)
        stretching.run()
        let later = InterruptedService.answers(flooding, reading("own", password: "right"), id: 1001)
        stretching.run()
        #expect(later().count == 1 && later() != [.failure(Failure(.limitExceeded))])
    }

    @Test func waitingPasswordsOfAnEndedConnectionAreNotStretched() {
        flood()
        flooding.close()
        stretching.run()
        #expect(simulated.keychain.tree.lockCount == 0)
        #expect(InterruptedService.answers(other, adding("item"))() == [.done])
    }

    @Test func requestEndsAfterTheItemWasReplacedTooOften() throws {
        let answers = InterruptedService.answers(flooding, reading("own", password: "right"), id: 1)
        for round in 1...Session.stretchRounds + 1 {
            #expect(answers() == [], "round \(round)")
            // Each update changes the salt.
            var password = try simulated.keychain.appPassword(isGiven: true)
            let request = Request.UpdateItems(.password("own"), secret: SecretBytes([2]))
            let caller = Caller(groups: ["flooding"], label: "", processID: 1, userID: 1)
            while case .stretch(let parameters) = try simulated.keychain.update(
                request, caller: caller, proof: .none, password: password)
            {
                for parameters in parameters {
                    password.add(try StretchedPassword(SecretBytes("right".utf8), parameters))
                }
            }
            stretching.step()
            if !answers().isEmpty { break }
        }
        #expect(answers() == [.failure(Failure(.timedOut))])
    }
}
