// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingPartyAPI
import RelyingPartyCrypto
import RelyingPartyHTTP
import RelyingPartyJSON
import Testing

struct InterfaceTests {
    private static func send(_ method: String, _ path: String, _ fixture: Fixture, _ body: String = "") -> HTTPResponse
    {
        Interface(fixture.service, proxies: TrustedProxies([]), limits: RateLimits { 0 }).respond(
            to: HTTPRequest(
                method: method, path: path, contentType: "application/json", authorization: nil, body: Array(body.utf8))
        )
    }

    /// The reader of requests limits the number of values, so the description is not read with it.
    @Test func theDescriptionNamesEveryPathAndMethod() throws {
        let text = OpenAPI.text
        for (path, methods) in Interface.methods {
            let start = try #require(text.range(of: "  \"\(path)\": {"))
            let operations = text[start.upperBound...].prefix { $0 != "}" }
            #expect(methods.contains { operations.contains("\"\($0.lowercased())\": {") }, "\(path)")
        }
        #expect(text.matches(of: /(?m)^  "\/[^"]*": \{/).count == Interface.methods.count)
        #expect(text.matches(of: /"operationId"/).count == Interface.methods.values.joined().count)
    }

    @Test(arguments: ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "", "get"])
    func otherMethodsAreRefused(method: String) throws {
        let fixture = try Fixture()
        for (path, methods) in Interface.methods where !methods.contains(method) {
            #expect(Self.send(method, path, fixture).status == 405)
        }
        #expect(Self.send(method, "/v1/challenges/", fixture).status == 404)
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
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { StrictBase64.url.encode(bytes) }
}
