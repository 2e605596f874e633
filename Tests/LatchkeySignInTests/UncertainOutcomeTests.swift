// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyFormats
import LatchkeyTesting
import Synchronization
import Testing

@testable import LatchkeySignIn

/// A key is deleted only when it is certain that the server does not know it. Otherwise the user could lose the only key
/// that the server accepts.
@Suite(.simulator()) struct UncertainOutcomeTests: DeviceTests {
    private func slots() throws -> KeySlots { try KeySlots(user: "ada", relyingPartyID: "localhost") }

    /// Registers; the user has a finger for it.
    private func registration(_ url: URL) async throws -> SignInError.Kind? {
        let server = try server(url)
        try machine().touch(matching: true)
        return await kind { () throws(SignInError) in
            _ = try await DeviceCredential.register(user: "ada", with: server, enrollmentCode: "c")
        }
    }

    private func rotation(of credential: DeviceCredential) async throws -> SignInError.Kind? {
        try machine().touch(matching: true)
        return await kind { () throws(SignInError) in _ = try await credential.rotate() }
    }

    // MARK: - Replies

    /// Answers that do not say that the server stored nothing.
    static let uncertain: [AttackingServer.Answer] = [
        .nothing, .bytes(Data("garbage".utf8)), .json(200, "{}"), .json(202, "{}"), .json(204, ""), .json(201, "{}"),
        .json(201, "no object"), .json(201, "{\"key\":\"AAAA\"}"), .json(302, "", headers: ["Location: /elsewhere"]),
        .json(303, "", headers: ["Location: http://localhost:1/"]), .json(304, ""), .json(500, "{}"), .json(503, "{}"),
        .json(201, String(repeating: " ", count: 17 << 10)),
    ]

    @Test(arguments: uncertain) func aReplyThatIsNoRefusalKeepsTheNewKey(answer: AttackingServer.Answer) async throws {
        let acceptor = Acceptor()
        try await AttackingServer(acceptor.answer).run { url in
            acceptor.answers = ["/v1/keys": answer, "/v1/rotations": answer]
            #expect(try await registration(url) == .outcomeUnknown(.registration))
            let credential = try #require(try existing(url))
            #expect(try await rotation(of: credential) == .outcomeUnknown(.rotation))
            #expect(try slots().all().count == 2)
        }
    }

    @Test(
        arguments: [
            (400, .unexpectedReply), (401, .refused(.registration)), (403, .unexpectedReply), (404, .unexpectedReply),
            (409, .unexpectedReply), (413, .unexpectedReply), (429, .tooManyTries(seconds: nil)),
        ] as [(Int, SignInError.Kind)]) func aRefusalDeletesTheNewKey(status: Int, kind: SignInError.Kind) async throws
    {
        let acceptor = Acceptor()
        try await AttackingServer(acceptor.answer).run { url in
            acceptor.answers = ["/v1/keys": .json(status, "{}"), "/v1/rotations": .json(status, "{}")]
            #expect(try await registration(url) == kind)
            #expect(try existing(url) == nil)
            acceptor.answers["/v1/keys"] = nil
            let credential = try await registered(url)
            _ = try await rotation(of: credential)
            #expect(try slots().all() == [credential.key])
        }
    }

    /// A client of HTTP sends a request again when the connection is one that it used before and ends without a reply. The
    /// server has accepted the first one then, and refuses the second one.
    @Test func aRequestThatCannotBeUndoneHasAConnectionOfItsOwn() async throws {
        let acceptor = Acceptor()
        let attacker = try AttackingServer { request in
            let answer = acceptor.answer(request)
            guard !request.line.contains("challenges") else { return answer.keepingConnection ?? answer }
            return request.place == 1 ? answer : .nothing
        }
        try await attacker.run { url in
            let credential = try await registered(url)
            #expect(try await rotation(of: credential) == nil)
            let next = try #require(try existing(url))
            try machine().touch(matching: true)
            #expect(try await next.revoke() == 1)
        }
        let final = attacker.requests.filter { !$0.line.contains("challenges") }
        #expect(final.map(\.place) == [1, 1, 1])
    }

    // MARK: - The next sign-in

    @Test func aReplyThatIsLostKeepsTheNewKey() async throws {
        let acceptor = Acceptor()
        try await AttackingServer(acceptor.answer).run { url in
            let credential = try await registered(url)
            acceptor.answers = ["/v1/rotations": .nothing]
            #expect(try await rotation(of: credential) == .outcomeUnknown(.rotation))
            let next = try #require(try slots().other(than: credential.key))
            // The server has accepted the rotation: it refuses the former key and accepts the new one.
            acceptor.revoked = Base64.url.encode(credential.identifier)
            try machine().touch(matching: true)
            let session = try await credential.signIn()
            #expect(session.keyIdentifier == Data(next.identifier))
            #expect(try slots().all() == [next])
        }
    }

    @Test func aRotationThatDidNotArriveIsUndoneByALaterSignIn() async throws {
        let acceptor = Acceptor()
        try await AttackingServer(acceptor.answer).run { url in
            let credential = try await registered(url)
            acceptor.answers = ["/v1/rotations": .nothing]
            #expect(try await rotation(of: credential) == .outcomeUnknown(.rotation))
            try machine().forgetActions()
            #expect(
                await kind { () throws(SignInError) in _ = try await credential.rotate() }
                    == .outcomeUnknown(.rotation),
                "neither key is overwritten")
            let found = try #require(try existing(url))
            #expect(found == credential)
            try machine().touch(matching: true)
            _ = try await found.signIn()
            #expect(try slots().all() == [credential.key])
        }
    }

    /// Somebody between both can hold back the request of a rotation, and deliver it after the next sign-in.
    @Test func aKeyIsKeptWhileItsRotationCanStillArrive() async throws {
        let acceptor = Acceptor()
        try await AttackingServer(acceptor.answer).run { url in
            let credential = try await registered(url)
            try machine().advance(by: .seconds(60))
            acceptor.answers = ["/v1/rotations": .nothing]
            #expect(try await rotation(of: credential) == .outcomeUnknown(.rotation))
            let next = try #require(try slots().other(than: credential.key))
            let created = try #require(try slots().creationDate(of: next))
            for (seconds, keys) in [(-7200.0, 2), (60, 2), (3599, 2), (3601, 1)] {
                try machine().touch(matching: true)
                let prompt = SigningPrompt(nil, reason: "sign in")
                let found = try #require(try existing(url))
                let session = try await Ceremony(found, prompt) { created.addingTimeInterval(seconds) }.signIn()
                prompt.end()
                #expect(session.keyIdentifier == credential.identifier)
                #expect(try slots().all().count == keys, "after \(seconds) seconds")
            }
        }
    }

    // MARK: - A keychain that fails

    /// The disk is full when the key that is not needed any more is to be deleted.
    @Test func aSignInSucceedsWhenTheOtherKeyCannotBeDeleted() async throws {
        let acceptor = Acceptor()
        try await AttackingServer(acceptor.answer).run { url in
            let credential = try await registered(url)
            acceptor.answers = ["/v1/rotations": .nothing]
            #expect(try await rotation(of: credential) == .outcomeUnknown(.rotation))
            // The key that is revoked is tried first, and the disk is full when the other one was accepted.
            for (revoked, accepted) in [(nil, 1), (Base64.url.encode(credential.identifier), 2)] {
                acceptor.revoked = revoked
                try fillDisk(at: "/v1/sessions", request: accepted, of: acceptor)
                let found = try #require(try existing(url))
                try machine().touch(matching: true)
                let session = try await found.signIn()
                #expect((session.keyIdentifier == credential.identifier) == (revoked == nil))
                #expect(try slots().all().count == 2)
            }
        }
    }

    @Test func theReasonOfAFailureIsKeptWhenTheNewKeyCannotBeDeleted() async throws {
        let acceptor = Acceptor()
        try await AttackingServer(acceptor.answer).run { url in
            acceptor.answers = ["/v1/keys": .json(401, "{}"), "/v1/rotations": .json(401, "{}")]
            try fillDisk(at: "/v1/keys", of: acceptor)
            #expect(try await registration(url) == .refused(.registration))
            let credential = try #require(try existing(url))
            try fillDisk(at: "/v1/rotations", of: acceptor)
            #expect(try await rotation(of: credential) == .refused(.rotation))
        }
    }

    @Test func aRotationSucceedsWhenTheFormerKeyCannotBeDeleted() async throws {
        let acceptor = Acceptor()
        try await AttackingServer(acceptor.answer).run { url in
            let credential = try await registered(url)
            try fillDisk(at: "/v1/rotations", of: acceptor)
            try machine().touch(matching: true)
            let next = try await credential.rotate()
            #expect(try slots().all().count == 2)
            acceptor.actions = [:]
            try machine().touch(matching: true)
            _ = try await next.signIn()
            #expect(try slots().all() == [next.key], "the next sign-in deletes it")
        }
    }

    /// Makes the next write of the keychain fail when the server answers the request of this number for a path.
    private func fillDisk(at path: String, request number: Int = 1, of acceptor: Acceptor) throws {
        let machine = try machine()
        let left = Mutex(number)
        acceptor.actions = [
            path: {
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { #expect(throws: Never.self) { try machine.failNext(.diskFull) } }
            }
        ]
    }
}
