// SPDX-License-Identifier: Apache-2.0

import RelyingParty
import RelyingPartyCrypto
import RelyingPartyHTTP
import RelyingPartyJSON
import ServerTestSupport
import Synchronization
import Testing

@testable import RelyingPartyAPI

struct RateLimitTests {
    /// Requests of clients behind one address to a relying party.
    private final class Network: Sendable {
        private final class Time: Sendable {
            let nanoseconds = Mutex<Int64>(0)
        }
        private let time = Time()
        private let interface: Interface
        let fixture: Fixture

        init() throws {
            fixture = try Fixture()
            interface = Interface(fixture.service, limits: RateLimits { [time] in time.nanoseconds.withLock { $0 } })
        }

        func advance(_ seconds: Int64) { time.nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }

        func send(
            _ method: String, _ path: String, _ network: [UInt8]? = [192, 0, 2, 1], token: [UInt8]? = nil,
            body: JSONValue = .object([])
        ) -> HTTPResponse {
            var request = HTTPRequest(
                method: method, path: path, contentType: "application/json",
                authorization: token.map { "Bearer " + StrictBase64.url.encode($0) }, body: Array(body.encoded.utf8))
            request.network = network
            return interface.respond(to: request)
        }

        func signIn(_ user: String, _ proof: SignedProof, _ network: [UInt8]? = [192, 0, 2, 1]) -> HTTPResponse {
            let bytes = { (bytes: [UInt8]) in JSONValue.string(StrictBase64.url.encode(bytes)) }
            return send(
                "POST", "/v1/sessions", network,
                body: .object([
                    ("user", .string(user)), ("key", bytes(proof.key)), ("challenge", bytes(proof.challenge)),
                    ("signature", bytes(proof.signature)),
                ]))
        }

        /// A sign-in with a signature that is not valid.
        func fail(_ user: String, key: UInt8, _ network: [UInt8]? = [192, 0, 2, 1]) -> HTTPResponse {
            let key = [UInt8](repeating: key, count: 32)
            return signIn(user, SignedProof(user: user, key: key, challenge: [], signature: []), network)
        }

        func guess(_ network: [UInt8]? = [192, 0, 2, 1]) -> HTTPResponse {
            send("GET", "/v1/session", network, token: [UInt8](repeating: 9, count: 32))
        }
    }

    @Test func whatIsValidIsNeverRefusedBecauseOfOthers() throws {
        let (network, key) = (try Network(), try TestKey())
        try network.fixture.register(key)
        let token = try network.fixture.service.signIn(network.fixture.proof(key)).token
        let identifier = StrictBase64.url.encode(try key.publicKey.identifier)
        for number in 0..<300 {
            _ = network.guess()
            _ = network.fail("ada", key: UInt8(number % 250))
        }
        #expect(network.guess().status == 429 && network.fail("ada", key: 7).status == 429)
        for _ in 0..<300 {
            #expect(network.send("GET", "/v1/session", token: token).status == 200)
            let challenge = JSONValue.object([
                ("user", .string("ada")), ("key", .string(identifier)), ("purpose", .string("login")),
            ])
            #expect(network.send("POST", "/v1/challenges", body: challenge).status == 200)
        }
        #expect(network.signIn("ada", try network.fixture.proof(key)).status == 201)
    }

    @Test func refusalsOfOneKindDoNotSlowDownThoseOfAnother() throws {
        let network = try Network()
        for _ in 0..<30 { #expect(network.guess().status == 401) }
        let refused = network.guess()
        #expect(refused.status == 429 && refused.headers.contains { $0 == ("Retry-After", "2") })
        #expect(refused.reason == "unknownSession", "for the log")
        #expect(network.guess([192, 0, 2, 2]).status == 401, "another network")
        for number in 0..<30 { #expect(network.fail("user \(number)", key: UInt8(number)).status == 401) }
        #expect(network.fail("ada", key: 99).status == 429)
        network.advance(2)
        #expect(network.guess().status == 401)
        #expect(network.guess().status == 429)
        #expect(network.fail("ada", key: 99).status == 401)
    }

    @Test func refusedSignaturesOfAUserOrAKeyAreLimitedForTheirNetworkOnly() throws {
        let network = try Network()
        for number in 0..<10 { #expect(network.fail("ada", key: UInt8(number)).status == 401) }
        let refused = network.fail("ada", key: 99)
        #expect(refused.status == 429 && refused.headers.contains { $0 == ("Retry-After", "10") })
        let other: [UInt8] = [192, 0, 2, 3]
        for number in 0..<10 { #expect(network.fail("user \(number)", key: 7, other).status == 401) }
        #expect(network.fail("bob", key: 7, other).status == 429)
        #expect(network.fail("ada", key: 7, [192, 0, 2, 2]).status == 401, "another network")
        network.advance(10)
        #expect(network.fail("ada", key: 99).status == 401)
    }

    @Test func aUserIsToldFromAnotherByTheBytesOfTheName() throws {
        let network = try Network()
        for number in 0..<10 { #expect(network.fail("J\u{fc}rgen", key: UInt8(number)).status == 401) }
        #expect(network.fail("J\u{fc}rgen", key: 99).status == 429)
        #expect(network.fail("Ju\u{308}rgen", key: 98).status == 401)
    }

    @Test func aRefusedTokenDoesNotCountForTheUserThatTheRequestNames() throws {
        let (network, key) = (try Network(), try TestKey())
        try network.fixture.register(key)
        let bytes = { (bytes: [UInt8]) in JSONValue.string(StrictBase64.url.encode(bytes)) }
        for _ in 0..<20 {
            let proof = try network.fixture.proof(key, "ada", .stepUp, context: "pay")
            let body = JSONValue.object([
                ("user", .string("ada")), ("key", bytes(proof.key)), ("challenge", bytes(proof.challenge)),
                ("signature", bytes(proof.signature)), ("context", .string("pay")),
            ])
            let token = [UInt8](repeating: 1, count: 32)
            #expect(network.send("POST", "/v1/step-ups", token: token, body: body).status == 401)
        }
        #expect(network.fail("ada", key: 99).status == 401)
    }

    @Test func refusalsBeyondTheLimitDoNotExtendTheWait() throws {
        let network = try Network()
        for _ in 0..<500 { _ = network.guess() }
        network.advance(2)
        #expect(network.guess().status == 401)
    }

    @Test func withoutANetworkNothingIsLimited() throws {
        let network = try Network()
        for _ in 0..<200 { #expect(network.guess(nil).status == 401) }
    }

    @Test(
        arguments: [
            (["192.0.2.1"], "192.0.2.1"), (["spoofed, 192.0.2.1"], "192.0.2.1"),
            (["192.0.2.9", "192.0.2.1"], "192.0.2.1"),
            (["192.0.2.1, 10.0.0.1"], "192.0.2.1"), (["192.0.2.1, 10.0.0.1 ", " 10.0.0.1"], "192.0.2.1"),
            (["::ffff:192.0.2.1"], "192.0.2.1"), (["192.0.2.1:4711"], "192.0.2.1"), (["2001:db8::7"], "2001:db8::7"),
            (["[2001:db8::7]:443"], "2001:db8::7"), (["a, [2001:db8::7], 10.0.0.1:65535"], "2001:db8::7"),
            (["[::ffff:192.0.2.1]:1"], "192.0.2.1"), ([], nil), (["192.0.2.1, unknown"], nil),
            (["10.0.0.1"], "10.0.0.1"), (["127.0.0.1, 10.0.0.1"], "127.0.0.1"), ([""], nil), (["x, 10.0.0.1"], nil),
            (["192.0.2.1,"], nil), (["192.0.2.1:"], nil), (["192.0.2.1:x"], nil), (["192.0.2.1:65536"], nil),
            (["192.0.2.1:000001"], nil), (["[192.0.2.1]:80"], nil), (["[2001:db8::7]443"], nil),
            (["[2001:db8::7"], nil),
            (["2001:db8::7]:443"], nil), (["[2001:db8::7]:"], nil), (["[]"], nil), (["[:80"], nil),
            (["192.0.2.1:+1"], nil),
        ] as [([String], String?)])
    func theClientIsTheLastAddressThatIsNotAProxy(_ header: [String], _ client: String?) throws {
        let proxies = TrustedProxies([.loopback, try #require(ClientAddress("10.0.0.1"))])
        let expected = try client.map { try #require(ClientAddress($0)) }
        #expect(proxies.client(of: Self.request([127, 0, 0, 1], header)) == expected)
    }

    private static func request(_ peer: [UInt8], _ header: [String] = []) -> HTTPRequest {
        HTTPRequest(
            method: "GET", path: "/", contentType: nil, authorization: nil, forwardedFor: header, peer: peer, body: [])
    }

    @Test func aConnectionThatIsNoProxysIsItsOwnClientWhateverItSends() throws {
        let proxy = try #require(ClientAddress("10.0.0.1"))
        let direct = TrustedProxies([proxy], connectsClients: true)
        let client = ClientAddress("192.0.2.1")
        #expect(direct.client(of: Self.request([192, 0, 2, 1], ["192.0.2.7"])) == client)
        let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 192, 0, 2, 1]
        #expect(direct.client(of: Self.request(mapped, ["192.0.2.7"])) == client, "IPv4 within IPv6")
        #expect(direct.client(of: Self.request([10, 0, 0, 1], ["192.0.2.1"])) == client)
        #expect(direct.client(of: Self.request([])) == .loopback, "limited without an address, too")
        let other = ClientAddress("127.0.0.2")
        #expect(TrustedProxies([.loopback]).client(of: Self.request([127, 0, 0, 2], ["192.0.2.7"])) == other)
        #expect(TrustedProxies([]).client(of: Self.request([127, 0, 0, 1], ["192.0.2.7"])) == .loopback)
    }

    @Test func onlyAServerWhoseProxyIsNotNamedConfusesClients() {
        #expect(TrustedProxies([]).confusesClients)
        #expect(!TrustedProxies([.loopback]).confusesClients)
        #expect(!TrustedProxies([], connectsClients: true).confusesClients)
    }

    @Test func addressesOfOneNetworkOfIPv6AreOneClient() throws {
        let network = { (text: String) in try #require(ClientAddress(text)).network }
        #expect(try network("2001:db8::1") == network("2001:db8:0:0:9::1"))
        #expect(try network("2001:db8::1") != network("2001:db8:0:1::1"))
        #expect(try ClientAddress.text(of: network("2001:db8::1")) == "2001:db8::/64")
        #expect(try ClientAddress.text(of: network("192.0.2.1")) == "192.0.2.1")
    }

    @Test func connectionsAreCountedForClientsAndNotForProxies() throws {
        let proxy = try #require(ClientAddress("10.0.0.1"))
        let direct = TrustedProxies([proxy], connectsClients: true)
        #expect(direct.client(connecting: [192, 0, 2, 1]) == ClientAddress("192.0.2.1"))
        #expect(direct.client(connecting: [10, 0, 0, 1]) == nil)
        #expect(TrustedProxies([proxy]).client(connecting: [192, 0, 2, 1]) == nil, "what connects is a proxy")
    }

    @Test func countsOfVeryManyClientsAreBounded() {
        let limits = RateLimits { 0 }
        for number in 0...RateLimits.mostSubjects {
            _ = limits.admit(.refusals(.token, withUnsafeBytes(of: number) { Array($0) }))
        }
        #expect(limits.count < RateLimits.mostSubjects)
    }

    @Test(arguments: ["", "127.0.0.1:80", "1.2.3", "::g", "127.0.0.1\0", "localhost", " 127.0.0.1", "[::1]"])
    func otherTextIsNoAddress(_ text: String) { #expect(ClientAddress(text) == nil) }
}
