// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import RelyingPartyHTTP
import RelyingPartyJSON
import Synchronization
import Testing

@testable import RelyingPartyAPI

struct RateLimitTests {
    /// Requests to a relying party through a proxy on this machine.
    private final class Proxied: Sendable {
        private final class Time: Sendable {
            let nanoseconds = Mutex<Int64>(0)
        }
        private let time = Time()
        private let interface: Interface

        init(proxies: Set<ClientAddress> = [.loopback]) throws {
            interface = Interface(
                try Fixture().service, proxies: TrustedProxies(proxies),
                limits: RateLimits { [time] in time.nanoseconds.withLock { $0 } })
        }

        func advance(_ seconds: Int64) { time.nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }

        func send(_ method: String, _ path: String, _ forwardedFor: [String], _ body: String = "") -> HTTPResponse {
            interface.respond(
                to: HTTPRequest(
                    method: method, path: path, contentType: "application/json", authorization: nil,
                    forwardedFor: forwardedFor, peer: [127, 0, 0, 1], body: Array(body.utf8)))
        }

        /// A sign-in with a signature that is not valid.
        func fail(_ address: String, user: String, key: UInt8) -> HTTPResponse {
            let bytes = StrictBase64.url.encode([UInt8](repeating: key, count: 32))
            let body = JSONValue.object([
                ("user", .string(user)), ("key", .string(bytes)), ("challenge", .string("")),
                ("signature", .string("")),
            ])
            return send("POST", "/v1/sessions", [address], body.encoded)
        }
    }

    @Test func aClientSendsAHundredRequestsAtOnceAndThenTwentyInASecond() throws {
        let proxied = try Proxied()
        let request = { proxied.send("GET", "/v1/openapi.json", ["192.0.2.1"]) }
        for _ in 0..<100 { #expect(request().status == 200) }
        let refused = request()
        #expect(refused.status == 429 && refused.headers.contains { $0 == ("Retry-After", "1") })
        #expect(proxied.send("GET", "/v1/openapi.json", ["192.0.2.2"]).status == 200, "another client")
        #expect(proxied.send("GET", "/health", ["192.0.2.1"]).status == 200, "not limited")
        proxied.advance(1)
        for _ in 0..<20 { #expect(request().status == 200) }
        #expect(request().status == 429)
    }

    @Test func refusedProofsOfAClientAreLimited() throws {
        let proxied = try Proxied()
        for number in 0..<30 {
            #expect(proxied.fail("192.0.2.1", user: "user \(number)", key: UInt8(number)).status == 401)
        }
        #expect(proxied.fail("192.0.2.1", user: "ada", key: 99).status == 429)
        #expect(proxied.fail("192.0.2.2", user: "ada", key: 99).status == 401)
        proxied.advance(2)
        #expect(proxied.fail("192.0.2.1", user: "ada", key: 99).status == 401)
        #expect(proxied.fail("192.0.2.1", user: "ada", key: 99).status == 429)
    }

    @Test func refusedProofsOfAUserOrAKeyAreLimitedForTheirClientOnly() throws {
        let proxied = try Proxied()
        for number in 0..<10 { #expect(proxied.fail("192.0.2.1", user: "ada", key: UInt8(number)).status == 401) }
        #expect(proxied.fail("192.0.2.1", user: "ada", key: 99).status == 429)
        for number in 0..<10 { #expect(proxied.fail("192.0.2.3", user: "user \(number)", key: 7).status == 401) }
        #expect(proxied.fail("192.0.2.3", user: "bob", key: 7).status == 429)
        #expect(proxied.fail("192.0.2.2", user: "ada", key: 7).status == 401, "another client")
        proxied.advance(10)
        #expect(proxied.fail("192.0.2.1", user: "ada", key: 99).status == 401)
    }

    @Test func refusedRequestsDoNotExtendTheWait() throws {
        let proxied = try Proxied()
        for _ in 0..<500 { _ = proxied.send("GET", "/v1/openapi.json", ["192.0.2.1"]) }
        proxied.advance(1)
        #expect(proxied.send("GET", "/v1/openapi.json", ["192.0.2.1"]).status == 200)
    }

    @Test func addressesOfOneNetworkOfIPv6AreOneClient() throws {
        let proxied = try Proxied()
        for number in 0..<100 {
            #expect(proxied.send("GET", "/v1/openapi.json", ["2001:db8::\(number)"]).status == 200)
        }
        #expect(proxied.send("GET", "/v1/openapi.json", ["2001:db8:0:0:9::1"]).status == 429)
        #expect(proxied.send("GET", "/v1/openapi.json", ["2001:db8:0:1::1"]).status == 200)
    }

    @Test(arguments: [
        (["192.0.2.1"], "192.0.2.1"), (["spoofed, 192.0.2.1"], "192.0.2.1"), (["192.0.2.9", "192.0.2.1"], "192.0.2.1"),
        (["192.0.2.1, 10.0.0.1"], "192.0.2.1"), (["192.0.2.1, 10.0.0.1 ", " 10.0.0.1"], "192.0.2.1"),
        (["::ffff:192.0.2.1"], "192.0.2.1"), ([], "127.0.0.1"), (["192.0.2.1, unknown"], "127.0.0.1"),
        (["10.0.0.1"], "127.0.0.1"), (["192.0.2.1,"], "127.0.0.1"),
    ])
    func theClientIsTheLastAddressThatIsNotAProxy(_ header: [String], _ client: String) throws {
        let proxies = TrustedProxies([.loopback, try #require(ClientAddress("10.0.0.1"))])
        let request = HTTPRequest(
            method: "GET", path: "/", contentType: nil, authorization: nil, forwardedFor: header, peer: [127, 0, 0, 1],
            body: [])
        let expected: ClientAddress? = ClientAddress(client)
        #expect(expected != nil && proxies.client(of: request) == expected)
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
        #expect(TrustedProxies([.loopback]).client(of: Self.request([127, 0, 0, 2], ["192.0.2.7"])) != nil)
        #expect(TrustedProxies([.loopback]).client(of: Self.request([127, 0, 0, 2], ["192.0.2.7"])) != client)
    }

    @Test func connectionsAreCountedForClientsAndNotForProxies() throws {
        let proxy = try #require(ClientAddress("10.0.0.1"))
        let direct = TrustedProxies([proxy], connectsClients: true)
        #expect(direct.client(connecting: [192, 0, 2, 1]) == ClientAddress("192.0.2.1"))
        #expect(direct.client(connecting: [10, 0, 0, 1]) == nil)
        #expect(TrustedProxies([proxy]).client(connecting: [192, 0, 2, 1]) == nil, "what connects is a proxy")
    }

    @Test func withoutProxiesTheHeaderIsNotBelievedAndNothingIsLimited() throws {
        let proxied = try Proxied(proxies: [])
        for _ in 0..<200 { #expect(proxied.send("GET", "/v1/openapi.json", ["192.0.2.1"]).status == 200) }
    }

    @Test func countsOfVeryManyClientsAreBounded() {
        let limits = RateLimits { 0 }
        for number in 0...RateLimits.mostSubjects {
            limits.count(.requests(withUnsafeBytes(of: number) { Array($0) }))
        }
        #expect(limits.count < RateLimits.mostSubjects)
    }

    @Test(arguments: ["", "127.0.0.1:80", "1.2.3", "::g", "127.0.0.1\0", "localhost", " 127.0.0.1"])
    func otherTextIsNoAddress(_ text: String) { #expect(ClientAddress(text) == nil) }
}
