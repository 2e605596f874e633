// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeySignIn

/// Servers that are down, slow, or answer what is no reply. No test has a finger: each ends before the prompt. Where the
/// limit of time is not what is tested, it is longer than a busy machine needs.
@Suite(.simulator()) struct ConnectionTests {
    private func refusal(
        _ url: URL, timeout: Duration = .seconds(60),
        _ body: (DeviceCredential) async throws(SignInError) -> Void = {
            credential throws(SignInError) in _ = try await credential.signIn()
        }
    ) async throws -> SignInError.Kind? {
        let server = try RelyingPartyServer(url: url, relyingPartyID: "localhost", timeout: timeout)
        let slots = try KeySlots(user: "ada", relyingPartyID: "localhost")
        var key = try slots.all().first
        if key == nil { key = try await slots.create(.currentBiometry) }
        let credential = DeviceCredential(user: "ada", server: server, key: try #require(key))
        do throws(SignInError) {
            try await body(credential)
            return nil
        } catch {
            #expect(try #require(Simulator.current).transcript.lines.isEmpty, "the user was not asked")
            return error.kind
        }
    }

    private func refusal(
        timeout: Duration = .seconds(60), _ answer: AttackingServer.Answer
    ) async throws -> SignInError.Kind? {
        try await AttackingServer { _ in answer }.run { url in try await refusal(url, timeout: timeout) }
    }

    @Test func aServerThatIsDownIsOffline() async throws {
        let port = try LoopbackPort()
        let kind = try await refusal(#require(port.url))
        #expect(kind == .offline)
        // The port is held until here, so that nothing else could listen on it.
        withExtendedLifetime(port) {}
    }

    @Test func aServerThatHangsUpIsOffline() async throws { #expect(try await refusal(.nothing) == .offline) }

    @Test func aServerThatSaysNothingIsTooSlow() async throws {
        #expect(try await refusal(timeout: .milliseconds(200), .silence) == .tooSlow)
    }

    /// A limit that begins again with each byte would never end this reply.
    @Test func aReplyThatTricklesIsTooSlow() async throws {
        #expect(try await refusal(timeout: .milliseconds(300), .trickle) == .tooSlow)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func aRedirectionIsNotFollowed(status: Int) async throws {
        let other = try AttackingServer { _ in .json(200, "{}") }
        try await other.run { elsewhere in
            let answer = AttackingServer.Answer.json(status, "", headers: ["Location: \(elsewhere)/v1/challenges"])
            let ending = try await refusal(answer)
            #expect(ending == .redirected)
        }
        #expect(other.requests.isEmpty)
    }

    @Test func aReplyThatIsTooLongIsNotRead() async throws {
        let long = "{\"challenge\":\"\(String(repeating: "A", count: 17 << 10))\"}"
        #expect(try await refusal(.json(200, long)) == .unexpectedReply)
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "{\"challenge\":1}", "{\"challenge\":\"\"}", "{\"challenge\":\"AA==\"}",
        "{\"challenge\":\"AR\"}", "{\"challenge\":\"!\"}", "<html></html>", "{\"challenge\":\"AA\"",
    ]) func aReplyOfAnotherFormIsNotUnderstood(body: String) async throws {
        #expect(try await refusal(.json(200, body)) == .unexpectedReply)
    }

    @Test(
        arguments: [
            (400, .unexpectedReply), (401, .unexpectedReply), (404, .unexpectedReply), (500, .serverNotAvailable),
            (503, .serverNotAvailable), (429, .tooManyTries(seconds: nil)), (201, .unexpectedReply),
            (204, .unexpectedReply),
        ] as [(Int, SignInError.Kind)]) func aStatusHasItsKind(status: Int, kind: SignInError.Kind) async throws
    {
        #expect(try await refusal(.json(status, "{}")) == kind)
    }

    @Test func theTimeUntilTheNextTryIsKept() async throws {
        #expect(try await refusal(.json(429, "{}", headers: ["Retry-After: 12"])) == .tooManyTries(seconds: 12))
        #expect(try await refusal(.json(429, "{}", headers: ["Retry-After: never"])) == .tooManyTries(seconds: nil))
    }

    @Test func aCancelledTaskEndsTheRequest() async throws {
        let server = try AttackingServer { _ in .silence }
        try await server.run { url in
            let simulator = try #require(Simulator.current)
            let task = Task { try await simulator.run { try await refusal(url) } }
            while server.requests.isEmpty { await Task.yield() }
            task.cancel()
            #expect(try await task.value == .cancelled)
        }
    }

    /// The client never sends what an earlier reply told it to keep.
    @Test func cookiesAreNotSentBack() async throws {
        let server = try AttackingServer { _ in .json(500, "{}", headers: ["Set-Cookie: a=b; Path=/"]) }
        try await server.run { url in
            #expect(try await refusal(url) == .serverNotAvailable)
            let again = try DeviceCredential.existing(
                user: "ada", for: RelyingPartyServer(url: url, relyingPartyID: "localhost"))
            await #expect(throws: SignInError(.serverNotAvailable)) { try await #require(again).signIn() }
        }
        #expect(server.requests.count == 2)
        for request in server.requests {
            #expect(request.headers["cookie"] == nil)
            #expect(request.headers["user-agent"] == "LatchkeySignIn")
        }
    }

    @Test(arguments: [
        ("SSL certificate problem: unable to get local issuer certificate", true),
        ("SSL: no alternative certificate subject name matches target host name 'localhost'", true),
        ("OpenSSL SSL_read: error:0A000119:SSL routines::decryption failed or bad record mac, errno 0", false),
        ("OpenSSL SSL_write: Broken pipe, errno 32", false), ("The operation could not be completed.", false),
    ])
    func aFailureOfTLSIsOneOfTheCertificateOnlyBeforeTheFirstRequest(text: String, isOfCertificate: Bool) {
        let failure = HTTPFailure(URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: text]))
        switch failure {
        case .certificateNotTrusted: #expect(isOfCertificate)
        case .lost: #expect(!isOfCertificate)
        default: Issue.record("another failure: \(failure)")
        }
    }
}
