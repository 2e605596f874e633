// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import KeyFormats
import LatchkeyKit
import LatchkeyTesting
import LocalAuthentication
import TestPromises
import Testing

@testable import LatchkeySignIn

/// What the credential does with its key, the prompt and the token. The other side accepts everything, so that what is
/// sent can be examined; `make test SUITE=server` has the server that verifies.
@Suite(.simulator()) struct DeviceCredentialTests: DeviceTests {
    // MARK: - What is sent

    @Test(.promise("signin.bound")) func registrationSignInAndStepUpPromptOnceEachAndNameTheRelyingParty() async throws
    {
        let acceptor = try AttackingServer(Acceptor().answer)
        try await acceptor.run { url in
            let credential = try await registered(url)
            try machine().touch(matching: true)
            let session = try await credential.signIn()
            try machine().touch(matching: true)
            try await credential.stepUp("pay 20 EUR to Bob", in: session)
            let lines = try machine().transcript.lines.joined(separator: "\n")
            for reason in [
                "register this device with localhost for ada", "sign in to localhost as ada",
                "approve at localhost: pay 20 EUR to Bob",
            ] { #expect(lines.contains(reason), "\(lines)") }
            #expect(try prompts().count == 3)
        }
        #expect(
            acceptor.requests.map(\.line) == [
                "POST /v1/challenges HTTP/1.1", "POST /v1/keys HTTP/1.1", "POST /v1/challenges HTTP/1.1",
                "POST /v1/sessions HTTP/1.1", "POST /v1/challenges HTTP/1.1", "POST /v1/step-ups HTTP/1.1",
            ])
        let registration = acceptor.requests[1]
        #expect(registration.member("enrollmentCode") == "CODE-1234")
        #expect(registration.member("form") == "bound")
        #expect(registration.member("tier") == "simulated")
        #expect(acceptor.requests[5].headers["authorization"] == "Bearer \(Acceptor.token)")
        #expect(acceptor.requests[3].headers["authorization"] == nil)
    }

    @Test(.promise("signin.bound")) func signaturesAreOfTheBoundMessage() async throws {
        let acceptor = try AttackingServer(Acceptor().answer)
        try await acceptor.run { url in
            let credential = try await registered(url)
            for (request, purpose) in [(acceptor.requests[1], BoundMessage.Purpose.register)] {
                let message = BoundMessage(
                    relyingPartyID: "localhost", user: "ada", key: Array(credential.identifier), purpose: purpose)
                let challenge = try #require(request.member("challenge").flatMap { Base64.url.decode($0.utf8) })
                let signature = try #require(request.member("signature").flatMap { Base64.url.decode($0.utf8) })
                let pair = try #require(try EnclaveKeyPair.find(tag: credential.key.pair.tag))
                #expect(pair.verify(Data(signature), of: Data(message.bytes(challenge))))
            }
        }
    }

    @Test func aContextWithAProofDoesNotPrompt() async throws {
        try await AttackingServer(Acceptor().answer).run { url in
            let credential = try await registered(url)
            let context = LAContext()
            try machine().touch(matching: true)
            try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "unlock")
            let before = try prompts().count
            _ = try await credential.signIn(context: context)
            #expect(try prompts().count == before)
        }
    }

    @Test func aRotationPromptsOnceAndReplacesTheKey() async throws {
        let acceptor = try AttackingServer(Acceptor().answer)
        try await acceptor.run { url in
            let credential = try await registered(url)
            let before = try prompts().count
            try machine().touch(matching: true)
            let next = try await credential.rotate()
            #expect(try prompts().count == before + 1)
            #expect(next.identifier != credential.identifier)
            #expect(try DeviceCredential.existing(user: "ada", for: server(url)) == next)
            #expect(await kind { () throws(SignInError) in _ = try await credential.signIn() } == .keyNotFound)
            try machine().touch(matching: true)
            _ = try await next.signIn()
            try machine().touch(matching: true)
            let third = try await next.rotate()
            #expect(try DeviceCredential.existing(user: "ada", for: server(url)) == third, "slots are used in turn")
        }
        let rotation = try #require(acceptor.requests.first { $0.line.contains("rotations") })
        #expect(rotation.member("signature") != rotation.member("newSignature"))
    }

    @Test func revocationNamesItsTarget() async throws {
        let acceptor = try AttackingServer(Acceptor().answer)
        try await acceptor.run { url in
            let credential = try await registered(url)
            for target in [RevocationTarget.thisKey, .device("laptop"), .everyKey, .key(Data(repeating: 1, count: 32))]
            {
                try machine().touch(matching: true)
                #expect(try await credential.revoke(target) == 1)
            }
            for target in [RevocationTarget.device(""), .device("a\u{202e}b"), .key(Data()), .key(Data(count: 33))] {
                let ending = await kind { () throws(SignInError) in _ = try await credential.revoke(target) }
                #expect(ending == .invalidArgument(.revocationTarget))
            }
            let key = Base64.url.encode(credential.identifier)
            let other = Base64.url.encode(Data(repeating: 1, count: 32))
            #expect(
                acceptor.requests.compactMap { $0.member("target") }
                    == ["key:\(key)", "device:laptop", "user", "key:\(other)"])
            let lines = try machine().transcript.lines.joined(separator: "\n")
            for words in [
                "revoke the key of this device", "revoke the keys of the device laptop", "revoke all your keys",
            ] {
                #expect(lines.contains("at localhost, \(words)"))
            }
        }
    }

    // MARK: - What the user and the machine refuse

    @Test func aCancelledPromptLeavesNoKeyAndNoRequest() async throws {
        let acceptor = try AttackingServer(Acceptor().answer)
        try await acceptor.run { url in
            try machine().cancel()
            let server = try server(url)
            let ending = await kind { () throws(SignInError) in
                _ = try await DeviceCredential.register(user: "ada", with: server, enrollmentCode: "c")
            }
            #expect(ending == .cancelled)
            #expect(try DeviceCredential.existing(user: "ada", for: server) == nil)
        }
        #expect(acceptor.requests.count == 1)
    }

    @Test func aNewFingerEndsTheKey() async throws {
        try await AttackingServer(Acceptor().answer).run { url in
            let credential = try await registered(url)
            try machine().replaceFinger()
            let before = try prompts().count
            #expect(await kind { () throws(SignInError) in _ = try await credential.signIn() } == .enrollmentChanged)
            #expect(try prompts().count == before, "the user was not asked")
            try credential.remove()
            _ = try await registered(url)
        }
    }

    @Test func aFingerThatIsNotRecognisedIsNotAnEnrolmentChange() async throws {
        try await AttackingServer(Acceptor().answer).run { url in
            let credential = try await registered(url)
            for _ in 0..<3 { try machine().touch(matching: false) }
            var error: SignInError?
            do throws(SignInError) { _ = try await credential.signIn() } catch let caught { error = caught }
            #expect(error?.kind == .notAuthenticated)
            #expect(error?.underlying?.authentication != nil, "the LAError is kept")
        }
    }

    @Test func anotherRegistrationIsRefusedBeforeAnythingIsSent() async throws {
        let acceptor = try AttackingServer(Acceptor().answer)
        try await acceptor.run { url in
            let credential = try await registered(url)
            let count = acceptor.requests.count
            let server = credential.server
            let ending = await kind { () throws(SignInError) in
                _ = try await DeviceCredential.register(user: "ada", with: server, enrollmentCode: "c")
            }
            #expect(ending == .alreadyRegistered)
            #expect(acceptor.requests.count == count)
            #expect(try DeviceCredential.existing(user: "bob", for: server) == nil)
        }
    }

    @Test(arguments: [
        "", " ", String(repeating: "x", count: 121), "two\nlines", "a\u{202e}b", "zero\u{200b}width", "trailing ",
        "nul\u{0}",
    ]) func anActThatAPromptDoesNotShowIsRefused(act: String) async throws {
        let acceptor = try AttackingServer(Acceptor().answer)
        try await acceptor.run { url in
            let credential = try await registered(url)
            try machine().touch(matching: true)
            let session = try await credential.signIn()
            let count = acceptor.requests.count
            let ending = await kind { () throws(SignInError) in try await credential.stepUp(act, in: session) }
            #expect(ending == .invalidArgument(.act))
            #expect(acceptor.requests.count == count)
        }
    }

    // MARK: - Lies

    /// Each lie is refused before the user is asked, and nothing is signed.
    @Test(.promise("signin.bound"), arguments: Acceptor.Lie.allCases) func aLieIsRefusedBeforeThePrompt(
        lie: Acceptor.Lie
    ) async throws {
        let acceptor = Acceptor()
        let attacker = try AttackingServer(acceptor.answer)
        try await attacker.run { url in
            let credential = try await registered(url)
            acceptor.lie = lie
            let (asked, sent) = (try prompts().count, attacker.requests.count)
            #expect(await kind { () throws(SignInError) in _ = try await credential.signIn() } == lie.kind)
            #expect(try prompts().count == asked)
            #expect(attacker.requests.count == sent + 1, "no signature was sent")
        }
    }

    // MARK: - The session

    @Test(.promise("signin.token")) func theTokenIsInNoDescription() async throws {
        try await AttackingServer(Acceptor().answer).run { url in
            let credential = try await registered(url)
            try machine().touch(matching: true)
            let session = try await credential.signIn()
            var dumped = ""
            dump(session, to: &dumped)
            for text in ["\(session)", String(reflecting: session), dumped, "\([session])", "\(credential)"] {
                #expect(!text.contains(Acceptor.token))
                #expect(!text.lowercased().contains("token"))
            }
            #expect(session.expires > Date())
        }
    }

    @Test(.promise("signin.token")) func onlyRequestsToTheServerGetTheToken() async throws {
        try await AttackingServer(Acceptor().answer).run { url in
            let credential = try await registered(url)
            try machine().touch(matching: true)
            let session = try await credential.signIn()
            var request = URLRequest(url: url.appending(path: "/orders/7"))
            try session.authorize(&request)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer \(Acceptor.token)")
            for address in [
                "http://localhost:1/orders", "https://example.com/", "http://127.0.0.1:\(url.port ?? 0)/",
                "mailto:a@b.c",
            ] {
                var other = URLRequest(url: try #require(URL(string: address)))
                #expect(throws: SignInError(.sessionNotUsable)) { try session.authorize(&other) }
                #expect(other.value(forHTTPHeaderField: "Authorization") == nil)
            }
        }
    }

    @Test func aSessionOfAnotherCredentialApprovesNothing() async throws {
        let acceptor = try AttackingServer(Acceptor().answer)
        try await acceptor.run { url in
            let ada = try await registered(url)
            try machine().touch(matching: true)
            let bob = try await DeviceCredential.register(user: "bob", with: server(url), enrollmentCode: "c")
            try machine().touch(matching: true)
            let session = try await ada.signIn()
            let count = acceptor.requests.count
            #expect(
                await kind { () throws(SignInError) in try await bob.stepUp("act", in: session) } == .sessionNotUsable)
            #expect(acceptor.requests.count == count)
            try await session.signOut()
            #expect(acceptor.requests.last?.line == "DELETE /v1/session HTTP/1.1")
        }
    }
}
