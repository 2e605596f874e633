// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import SoftwareEnclaveDriver
import Synchronization
import Testing

@testable import LatchkeyService

/// What a context had proven before a request asked for more may be void once the person has answered.
@Suite struct StaleProofTests {
    private let session: Session
    private let world: SimulatedWorld
    private let context: ContextHandle

    init() throws {
        let simulated = try SimulatedService { parts, world in
            parts.sessions = world
            parts.keyModule = SoftwareEnclave()
        }
        world = simulated.world
        session = simulated.session()
        let made = Self.answers(session, .createContext)
        guard case .context(let handle)? = made().first else { throw Failure(.internalFailure) }
        context = handle
        #expect(Self.answers(session, .passcode(.set(SecretBytes("1234".utf8))))() == [.done])
    }

    /// Makes a request; what came of it so far.
    private static func answers(_ session: Session, _ request: Request) -> () -> [Reply] {
        final class Replies: Sendable { let all = Mutex<[Reply]>([]) }
        let replies = Replies()
        session.handle(1, request) { reply in replies.all.withLock { $0.append(reply) } }
        return { replies.all.withLock { $0 } }
    }

    private let bound = AccessControl(
        accessibility: .whenPasscodeSetThisDeviceOnly, constraints: [.biometryAny, .privateKeyUsage])

    /// Has the context prove a finger while the key of the passcode's class is not in memory, so that the passcode is
    /// asked for besides; then exchanges the finger while that prompt is up.
    private func exchangingTheFinger(_ request: Request) -> () -> [Reply] {
        #expect(Self.answers(session, .simulate(.lock))() == [.done])
        #expect(Self.answers(session, .simulate(.unlock(byBiometry: true)))() == [.done])
        world.perform(.touch(matching: true))
        let proven = Self.answers(
            session,
            .evaluate(
                Request.Evaluate(
                    context: context, policy: .deviceOwnerAuthenticationWithBiometrics,
                    prompting: Prompting(reason: "test"))))
        #expect(proven() == [.proven([.biometry])])
        let answers = Self.answers(session, request)
        #expect(answers().isEmpty, "the passcode is asked for")
        #expect(Self.answers(session, .simulate(.replaceFinger))() == [.done])
        world.perform(.passcode(SecretBytes("1234".utf8)))
        return answers
    }

    @Test func aKeyIsNotUsedWithTheFingerOfAnEarlierSet_abuse32() throws {
        let made = Self.answers(
            session,
            .createEnclaveKey(
                Request.CreateEnclaveKey(
                    attributes: [:], accessControl: bound, isPermanent: true, authentication: Authentication())))
        guard case .enclaveKey(let key)? = made().first else { throw Failure(.internalFailure) }
        let use = Request.UseEnclaveKey(
            name: key.name, operation: .sign(digest: [UInt8](repeating: 1, count: 32)),
            authentication: Authentication(context: context))
        let answers = exchangingTheFinger(.useEnclaveKey(use))
        #expect(answers().isEmpty, "the new finger is asked for")
        world.perform(.touch(matching: true))
        guard case .enclaveResult? = answers().first else {
            Issue.record("the new finger is good for it: \(answers())")
            return
        }
    }

    @Test func anItemIsNotChangedWithTheFingerOfAnEarlierSet_abuse32() {
        let rule = AccessControl(accessibility: bound.accessibility, constraints: .biometryAny)
        let item = Request.AddItem(
            itemClass: .genericPassword, attributes: [.account: .text("account")], accessControl: rule,
            secret: SecretBytes("secret".utf8), returns: [], authentication: Authentication())
        #expect(Self.answers(session, .addItem(item))() == [.done])
        let change = Request.UpdateItems(
            query: ItemQuery(itemClass: .genericPassword), changes: [.label: .text("new")], accessControl: nil,
            secret: nil, authentication: Authentication(context: context))
        let answers = exchangingTheFinger(.updateItems(change))
        #expect(answers().isEmpty, "the new finger is asked for")
        world.perform(.touch(matching: true))
        #expect(answers() == [.done])
    }
}
