// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingPartyAPI
import RelyingPartyAdmin
import RelyingPartyCrypto
import RelyingPartyHTTP
import RelyingPartyJSON
import ServerTestSupport
import Testing

struct InterfaceTests {
    private static func send(_ method: String, _ path: String, _ fixture: Fixture, _ body: String = "") -> HTTPResponse
    {
        Interface(fixture.service, limits: RateLimits { 0 }).respond(
            to: HTTPRequest(
                method: method, path: path, contentType: "application/json", authorization: nil, body: Array(body.utf8))
        )
    }

    /// The reader of requests limits the number of values, so the description is read with another one.
    @Test func theDescriptionNamesEveryPathAndMethod() throws {
        let object = try JSONSerialization.jsonObject(with: Data(OpenAPI.text.utf8))
        let described = try #require((object as? [String: Any])?["paths"] as? [String: [String: Any]])
        let served = Interface.routes.paths.union(Administration.paths.filter { $0.hasPrefix("/admin/api/") })
        #expect(Set(described.keys) == served)
        for (path, operations) in described {
            let methods = Interface.routes.methods(of: path)
            #expect(operations.keys.map { $0.uppercased() }.sorted() == (methods.isEmpty ? ["POST"] : methods.sorted()))
        }
    }

    @Test(arguments: ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "", "get"])
    func otherMethodsAreRefused(method: String) throws {
        let fixture = try Fixture()
        for path in Interface.routes.paths where !Interface.routes.methods(of: path).contains(method) {
            #expect(Self.send(method, path, fixture).status == 405)
        }
        #expect(Self.send(method, "/v1/challenges/", fixture).status == 404)
    }

    @Test(
        arguments: [
            ("application/json", 400), ("Application/JSON", 400), ("application/json; charset=utf-8", 400),
            ("application/jsonx", 415), ("text/plain", 415), ("", 415), (nil, 415),
        ] as [(String?, UInt32)])
    func bodiesAreJSONWhateverItsParameters(_ type: String?, _ status: UInt32) throws {
        let interface = Interface(try Fixture().service, limits: RateLimits { 0 })
        let request = HTTPRequest(
            method: "POST", path: "/v1/sessions", contentType: type, authorization: nil, body: Array("{}".utf8))
        #expect(interface.respond(to: request).status == status)
    }

    @Test(arguments: [("Bearer ", UInt32(200)), ("bearer ", 200), ("Basic ", 401), ("Bearer", 401), ("Bearer  ", 401)])
    func theSchemeOfATokenIsWrittenInAnyCase(_ scheme: String, _ status: UInt32) throws {
        let (fixture, key) = (try Fixture(), try TestKey())
        try fixture.register(key)
        let token = try fixture.service.signIn(fixture.proof(key)).token
        let interface = Interface(fixture.service, limits: RateLimits { 0 })
        let request = HTTPRequest(
            method: "GET", path: "/v1/session", contentType: nil, authorization: scheme + Self.text(token), body: [])
        #expect(interface.respond(to: request).status == status)
    }

    @Test func repliesToUsersThatExistAndOnesThatDoNotAreTheSame() throws {
        let fixture = try Fixture()
        let (known, unknown) = (try TestKey(), try TestKey())
        try fixture.register(known)
        let responses = try [(known, "ada"), (unknown, "ada"), (known, "bob"), (unknown, "bob")].map { key, user in
            let proof = try fixture.proof(key, user)
            let body = JSONValue.object([
                ("user", .string(user)), ("key", .string(Self.text(proof.key))),
                ("challenge", .string(Self.text(proof.challenge))), ("signature", .string(Self.text([0x30, 0]))),
            ])
            return Self.send("POST", "/v1/sessions", fixture, body.encoded)
        }
        for response in responses {
            #expect(response.status == 401)
            #expect(response.body == responses[0].body)
            #expect(response.contentType == "application/problem+json")
            #expect(response.headers.contains { $0 == ("WWW-Authenticate", "Bearer") })
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { StrictBase64.url.encode(bytes) }
}
