// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import SimulatedDriver
import Synchronization
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// Hello is the first request of a connection and is sent once, so that an app cannot use proofs of another app on the
/// same connection.
@Suite struct HelloTests {
    private let answers = Replies()
    private let simulated: SimulatedService
    private let connection: HostSession
    private let isOver = SharedFlag()

    private final class SharedFlag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    init() throws {
        let simulated = try SimulatedService()
        self.simulated = simulated
        connection = HostSession(send: answers.add, end: isOver.set) { simulated.session($0) }
        let owner = HostSession(greeted: simulated.session()) { _ in }
        owner.receive(Message.request(id: 1, .setPasscode("1234")).encoded())
    }

    private func send(_ id: UInt64, _ request: Request) {
        connection.receive(Message.request(id: id, request).encoded())
    }

    private func hello(_ application: String) -> Request { .hello(Request.Hello(application: application)) }

    private var protected: AccessControl { AccessControl(constraints: .userPresence) }

    private func adding(_ rule: AccessControl) -> Request {
        .addItem(
            Request.AddItem(attributes: [.account: .text("a")], accessControl: rule, secret: SecretBytes("secret".utf8))
        )
    }

    private func reading(_ context: ContextHandle? = nil) -> Request {
        .copyItems(Request.CopyItems(authentication: Authentication(context: context)))
    }

    /// In tiers that identify apps by the kernel's peer credentials, the names in hello are ignored.
    @Test(.promise("caller.names-itself", "attacker.other-app"))
    func groupsInAHelloAreUsedOnlyIfAnAppMayNameItself_KC23_abuse1() throws {
        let hello = Request.Hello(application: "victim", groups: ["victim", "team.shared"])
        for (mayNameItself, groups) in [(true, ["victim", "team.shared"]), (false, ["app"])] {
            let session = simulated.service.session(
                caller: SimulatedService.caller, terminal: 0, mayNameItself: mayNameItself, hello: hello)
            #expect(session.caller.groups == groups)
            #expect(session.caller.application == groups[0])
        }
    }

    /// Face permissions and domain state hashes belong to the app's name and not to a group, which other apps may
    /// share.
    @Test(.promise("caller.permissions")) func identityOfAnAppIsItsNameNotItsFirstGroup_KC23() {
        let caller = simulated.session(Request.Hello(application: "app", groups: ["team.shared", "app"])).caller
        #expect(caller.application == "app")
        #expect(caller.groups == ["team.shared", "app"])
        let other = simulated.session(Request.Hello(application: "other", groups: ["team.shared", "app"])).caller
        #expect(caller != other)
    }

    @Test func firstRequestOtherThanHelloEndsTheConnection() {
        send(7, .status)
        #expect(answers.of(7) == [.failure(Failure(.malformedRequest))])
        #expect(isOver.isSet)
        send(8, hello("app"))
        #expect(answers.of(8).isEmpty, "the connection is over")
    }

    @Test func undecodableFirstFrameEndsTheConnection() {
        connection.receive(SecretBytes([0xff]))
        #expect(answers.of(0) == [.failure(Failure(.malformedRequest))])
        #expect(isOver.isSet)
    }

    @Test(.promise("caller.once")) func secondHelloEndsTheConnectionAndItsProofs() throws {
        let victim = HostSession(greeted: simulated.session(Request.Hello(application: "victim"))) { _ in }
        victim.receive(Message.request(id: 1, adding(protected)).encoded())
        send(1, hello("attacker"))
        send(2, .createContext)
        guard case .context(let context)? = answers.of(2).first else { throw Failure(.internalFailure) }
        simulated.world.perform(.touch(matching: true))
        send(
            3,
            .evaluate(
                Request.Evaluate(
                    context: context, policy: .deviceOwnerAuthentication, prompting: Prompting(reason: "test"))))
        #expect(answers.of(3) == [.proven([.biometry])])
        send(4, hello("victim"))
        #expect(answers.of(4) == [.failure(Failure(.malformedRequest))])
        #expect(isOver.isSet)
        send(5, reading(context))
        #expect(answers.of(5).isEmpty, "no request is accepted after the end")
    }

    @Test(.promise("caller.once")) func helloDuringAPromptDoesNotChangeTheRecipientOfTheSecret() {
        let victim = HostSession(greeted: simulated.session(Request.Hello(application: "victim"))) { _ in }
        victim.receive(Message.request(id: 1, adding(protected)).encoded())
        send(1, hello("attacker"))
        send(2, adding(protected))
        send(3, reading())
        #expect(answers.of(3).isEmpty, "the prompt is for the attacker's own item")
        send(4, hello("victim"))
        #expect(answers.of(4) == [.failure(Failure(.malformedRequest))])
        simulated.world.perform(.touch(matching: true))
        #expect(
            !answers.of(3).contains { if case .items(let items, _) = $0 { !items.isEmpty } else { false } },
            "the prompt ended with the connection")
    }
}
